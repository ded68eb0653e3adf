window.csisimPages = [
{{- range site.RegularPages }}
{{ dict "title" (partial "title.html" . | htmlUnescape) "url" .RelPermalink "text" (.Plain | htmlUnescape | truncate 6000 "") | jsonify }},
{{- end }}
];
