{{- define "berth.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 57 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 57 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "berth.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "berth.labels" -}}
{{ include "berth.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end -}}

{{- define "berth.serviceAccount" -}}
{{- default (include "berth.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "berth.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- /* The seconds of a duration as Go writes them. */ -}}
{{- define "berth.seconds" -}}
{{- $from := toDate "2006-01-02" "2000-01-01" -}}
{{- sub ($from | mustDateModify . | unixEpoch) ($from | unixEpoch) -}}
{{- end -}}

{{- /* What a pod may take to go: all that berth may, and ten seconds. */ -}}
{{- define "berth.gracePeriod" -}}
{{- $drain := include "berth.seconds" .Values.drain | int -}}
{{- $held := include "berth.seconds" .Values.drainHeld | int -}}
{{- add (include "berth.seconds" .Values.drainDelay | int) (max $drain $held) 10 -}}
{{- end -}}

{{- /* The namespaces in which berth watches EndpointSlices, a JSON list. */ -}}
{{- define "berth.watched" -}}
{{- $all := list -}}
{{- range .Values.pools -}}
{{- if .service -}}{{- $all = append $all (default $.Release.Namespace .namespace) -}}{{- end -}}
{{- end -}}
{{- $all | uniq | sortAlpha | toJson -}}
{{- end -}}

{{- define "berth.storeIsShared" -}}
{{- if or .Values.store.url .Values.store.secret.name -}}yes{{- end -}}
{{- end -}}

{{- /* What values may not ask for together. */ -}}
{{- define "berth.judge" -}}
{{- $many := or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled -}}
{{- if and $many (not (include "berth.storeIsShared" .)) -}}
{{- fail "more than one berth need a store that they share: set store.url or store.secret.name to a Redis, or replicas to 1" -}}
{{- end -}}
{{- if and .Values.store.url .Values.store.secret.name -}}
{{- fail "store: set url or secret.name, not both" -}}
{{- end -}}
{{- if and .Values.serviceMonitor.enabled (not .Values.admin.token.name) -}}
{{- fail "serviceMonitor needs admin.token.name: without a token nothing but the pod itself reaches the metrics" -}}
{{- end -}}
{{- if lt (include "berth.seconds" .Values.drainHeld | int) (include "berth.seconds" .Values.drain | int) -}}
{{- fail "drainHeld is at least drain" -}}
{{- end -}}
{{- range .Values.pools -}}
{{- if ne 1 (len (compact (list .service .dns (ternary "upstreams" "" (not (empty .upstreams)))))) -}}
{{- fail (printf "pool %q: set exactly one of service, dns and upstreams" .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
