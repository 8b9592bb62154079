{{- define "heliograph.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "heliograph.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{- define "heliograph.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end -}}

{{- define "heliograph.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- define "heliograph.deployment" -}}
{{- $root := .root -}}
{{- $role := .role -}}
{{- $own := index $root.Values $role -}}
{{- $drain := $root.Values.drain -}}
{{- if lt (int $drain.gracePeriodSeconds) (add 20 (int $drain.preStopSeconds)) -}}
{{- fail "drain.gracePeriodSeconds must be at least drain.preStopSeconds + 20: the service needs 20 s to end" -}}
{{- end -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "heliograph.name" $root }}-{{ $role }}
  labels:
    {{- include "heliograph.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ $role }}
spec:
  {{- if not .isScaled }}
  replicas: {{ $own.replicas }}
  {{- end }}
  # The service's callers must not meet a pod that balancers do not know yet.
  minReadySeconds: 5
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: 1
  selector:
    matchLabels:
      {{- include "heliograph.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "heliograph.selector" . | nindent 8 }}
        {{- with $root.Values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with $root.Values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "heliograph.name" $root }}
      automountServiceAccountToken: false
      # They would be variables like HELIOGRAPH_PORT, and the service refuses to start with settings that it does not know.
      enableServiceLinks: false
      terminationGracePeriodSeconds: {{ $drain.gracePeriodSeconds }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
        runAsGroup: 1000
        fsGroup: 1000
        seccompProfile:
          type: RuntimeDefault
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: heliograph
          image: {{ include "heliograph.image" $root | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: ["ALL"]
          env:
            - name: HELIOGRAPH_ENV
              value: {{ $root.Values.environment | quote }}
            - name: HELIOGRAPH_ROLE
              value: {{ $role | quote }}
            - name: HELIOGRAPH_PUBLIC_URL
              value: {{ $root.Values.publicUrl | quote }}
            - name: HELIOGRAPH_DATA_DIR
              value: /var/lib/heliograph
            - name: HOST
              value: "0.0.0.0"
            - name: PORT
              value: "8080"
            {{- with $root.Values.trustedProxies }}
            - name: HELIOGRAPH_TRUSTED_PROXIES
              value: {{ join "," . | quote }}
            {{- end }}
            {{- range $key := list "DATABASE_URL" "REDIS_URL" "HELIOGRAPH_SECRET" }}
            - name: {{ $key }}
              valueFrom:
                secretKeyRef:
                  name: {{ $root.Values.existingSecret | quote }}
                  key: {{ $key }}
            {{- end }}
            - name: HELIOGRAPH_METRICS_TOKEN
              valueFrom:
                secretKeyRef:
                  name: {{ $root.Values.existingSecret | quote }}
                  key: HELIOGRAPH_METRICS_TOKEN
                  optional: {{ not $root.Values.serviceMonitor.enabled }}
            {{- range $name, $value := $root.Values.settings }}
            - name: {{ $name }}
              value: {{ $value | quote }}
            {{- end }}
            {{- with $root.Values.env }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          ports:
            - name: http
              containerPort: 8080
            {{- if eq $role "web" }}
            {{- range $own.extraPorts }}
            - name: {{ .name }}
              containerPort: {{ .port }}
            {{- end }}
            {{- end }}
          startupProbe:
            httpGet: { path: /healthz, port: http }
            periodSeconds: 2
            timeoutSeconds: 3
            failureThreshold: {{ div (add 1 (int $root.Values.probes.startupSeconds)) 2 }}
          readinessProbe:
            httpGet: { path: /readyz, port: http }
            periodSeconds: 2
            timeoutSeconds: 2
            failureThreshold: 2
          # Alive, not ready: a pod that waits for Postgres must not be killed for it.
          livenessProbe:
            httpGet: { path: /healthz, port: http }
            periodSeconds: 10
            timeoutSeconds: 3
            failureThreshold: 3
          lifecycle:
            preStop:
              exec:
                command: ["sleep", {{ $drain.preStopSeconds | quote }}]
          resources:
            {{- toYaml $own.resources | nindent 12 }}
          volumeMounts:
            - name: data
              mountPath: /var/lib/heliograph
            {{- with $root.Values.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
      volumes:
        # The only folder that the service writes to; all data is in Postgres.
        - name: data
          emptyDir:
            sizeLimit: 64Mi
        {{- with $root.Values.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "heliograph.selector" . | nindent 14 }}
      {{- with $own.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $own.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $own.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end -}}
