package view

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
)

// The code for the browser, which make viewer builds from web/src.
var (
	//go:embed web/dist/viewer.js
	script []byte
	//go:embed web/dist/viewer.css
	style []byte
)

// policy returns the Content-Security-Policy of a page: only its own script and style.
func policy(connect string) string {
	hash := func(text []byte) string {
		sum := sha256.Sum256(text)
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; connect-src %s; base-uri 'none'; form-action 'none'", hash(style), hash(script), connect)
}

// Policy returns the Content-Security-Policy for a page from a server: it may request news from
// this server.
func Policy() string { return policy("'self'") + "; frame-ancestors 'none'" }

// Write writes a self-contained page with the report, and the trace in chunks.
func Write(w io.Writer, r Report, chunks []Chunk) error {
	return write(w, r, chunks, nil, policy("'none'"))
}

// WriteBoth is Write with a second trace next to the first trace.
func WriteBoth(w io.Writer, r Report, chunks, other []Chunk) error {
	return write(w, r, chunks, other, policy("'none'"))
}

// Live writes a page that requests chunks from its server.
func Live(w io.Writer, r Report) error { return write(w, r, nil, nil, policy("'self'")) }

// eventSize is the approximate size of an event in a file, in bytes.
const eventSize = 256

// Reading writes a page for a trace that is still being read from a file of the given size. The
// page requests its columns, their details, and finally the report from its server.
func Reading(w io.Writer, name string, size int64) error {
	room := min(size/eventSize, mostEvents)
	return write(w, Report{Name: name, Verdict: "reading", Sentence: "The trace is read.", Room: room}, nil, nil, policy("'self'"))
}

func write(w io.Writer, r Report, chunks, other []Chunk, policy string) error {
	about, err := json.Marshal(r) // which escapes the end of a script
	if err != nil {
		return fmt.Errorf("render report: %w", err)
	}
	var page bytes.Buffer
	fmt.Fprintf(&page, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>%s · csisim</title>
<style>%s</style>
</head>
<body>
<div id="app"><p class="loading">Reading the trace …</p></div>
<noscript>%s. This page needs JavaScript to show the trace.</noscript>
<script type="application/json" id="report">%s</script>
`, policy, html.EscapeString(r.Name), style, html.EscapeString(r.Sentence), about)
	scripts(&page, chunks, "columns")
	scripts(&page, other, "columns other")
	fmt.Fprintf(&page, "<script>%s</script>\n</body>\n</html>\n", script)
	if _, err := w.Write(page.Bytes()); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// scripts writes chunks. The script of the page finds them by their class.
func scripts(page *bytes.Buffer, chunks []Chunk, class string) {
	for _, c := range chunks {
		fmt.Fprintf(page, "<script type=\"text/plain\" class=\"%s\">%s</script><script type=\"text/plain\">%s</script>", class, c.Columns, c.Details)
		if c.Between != "" {
			fmt.Fprintf(page, "<script type=\"text/plain\" class=\"between\">%s</script>", c.Between)
		}
		page.WriteByte('\n')
	}
}
