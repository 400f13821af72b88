{{- /* The secrets that berth reads as files, as sources of one projected volume. */ -}}
{{- define "berth.secrets" -}}
{{- $all := list -}}
{{- range $path, $from := dict "admin-token" .Values.admin.token "store-url" .Values.store.secret "seal-key" .Values.store.sealKey -}}
{{- if $from.name -}}
{{- $all = append $all (dict "secret" (dict "name" $from.name "items" (list (dict "key" $from.key "path" $path)))) -}}
{{- end -}}
{{- end -}}
{{- if $all -}}{{- toYaml $all -}}{{- end -}}
{{- end -}}
