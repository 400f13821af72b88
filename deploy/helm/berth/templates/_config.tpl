{{- /* What of berth's configuration takes a restart: a change of it replaces the pods. */ -}}
{{- define "berth.config.fixed" -}}
listen = ":8080"
drain_delay = {{ .Values.drainDelay | quote }}
drain = {{ .Values.drain | quote }}
drain_held = {{ .Values.drainHeld | quote }}
# A changed ConfigMap is taken over without a restart.
watch = true
trusted_proxies = {{ .Values.trustedProxies | toJson }}

[admin]
# For the kubelet: health alone, without a token.
probes = ":9902"
{{- if .Values.admin.token.name }}
listen = ":9901"
token_file = "/etc/berth-secrets/admin-token"
{{- else }}
listen = "127.0.0.1:9901"
{{- end }}

[store]
{{- if .Values.store.secret.name }}
url_file = "/etc/berth-secrets/store-url"
{{- else }}
url = {{ default "memory:" .Values.store.url | quote }}
{{- end }}
{{- if .Values.store.sealKey.name }}
seal_key_file = "/etc/berth-secrets/seal-key"
{{- end }}
{{- with .Values.store.keys }}
{{ . | trim }}
{{- end }}
{{- if .Values.tls.secret }}

[tls]
cert = "/etc/berth-tls/tls.crt"
key = "/etc/berth-tls/tls.key"
{{- with .Values.tls.keys }}
{{ . | trim }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "berth.config" -}}
{{ include "berth.config.fixed" . }}

[log]
level = {{ .Values.log.level | quote }}
access = {{ .Values.log.access }}
{{- range .Values.pools }}

[[pools]]
name = {{ .name | quote }}
path = {{ default "/mcp" .path | quote }}
hosts = {{ default list .hosts | toJson }}
{{- with .keys }}
{{ . | trim }}
{{- end }}
{{- if .service }}

[pools.discover.kubernetes]
service = {{ .service | quote }}
namespace = {{ default $.Release.Namespace .namespace | quote }}
port = {{ default "" .port | toString | quote }}
{{- else if .dns }}

[pools.discover]
dns = {{ .dns | quote }}
{{- end }}
{{- range .upstreams }}

[[pools.upstreams]]
name = {{ .name | quote }}
url = {{ .url | quote }}
{{- end }}
{{- with .tables }}

{{ . | trim }}
{{- end }}
{{- end }}
{{- with .Values.config }}

{{ . | trim }}
{{- end }}
{{ end -}}
