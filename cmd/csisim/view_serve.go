package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"

	"github.com/csisim/csisim/cmd/internal/page"
	"github.com/csisim/csisim/internal/view"
)

// reader is a trace that a page shows while it is read.
type reader struct {
	file        *view.File
	name, title string
}

// parts is an answer in several parts. Each part is sent immediately, after its length. The last
// part follows a length of 0.
type parts struct{ to http.ResponseWriter }

func (p parts) send(text []byte) error {
	if _, err := p.to.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)); err != nil {
		return err
	}
	return http.NewResponseController(p.to).Flush()
}

// end sends the last part. Errors are ignored, since the browser may have disconnected.
func (p parts) end(value any) {
	text, err := json.Marshal(value)
	if err == nil {
		_, _ = p.to.Write(append(make([]byte, 4), text...))
	}
}

// columns sends all columns as soon as they are read, and then the report.
func (v *reader) columns(w http.ResponseWriter, _ *http.Request) {
	out := parts{w}
	for n := 0; ; n++ {
		columns, isOne := v.file.Columns(n)
		if !isOne {
			break
		}
		if err := out.send(columns); err != nil {
			return
		}
	}
	out.end(v.report())
}

// search sends the rows of events that contain a text as soon as it finds them. The row numbers are
// sent as varints, each as the difference from the previous row. The last part has the error, if
// the search ended early. The search ends when the browser disconnects.
func (v *reader) search(w http.ResponseWriter, r *http.Request) {
	text := r.URL.Query().Get("q")
	if text == "" {
		http.Error(w, "q: want a text", http.StatusBadRequest)
		return
	}
	out := parts{w}
	for rows, err := range v.file.Search(r.Context(), text) {
		if err != nil {
			out.end(err.Error())
			return
		}
		var part []byte
		before := 0
		for _, row := range rows {
			part, before = binary.AppendUvarint(part, uint64(row-before)), row
		}
		if err := out.send(part); err != nil {
			return
		}
	}
	out.end("")
}

// report waits for the end of the trace and returns the report.
func (v *reader) report() view.Report {
	r, err := v.file.Report(v.title)
	if err != nil {
		return view.Report{Name: v.title, Verdict: "error", Sentence: err.Error()}
	}
	r.Facts = append([][2]string{{"Trace", v.name}}, r.Facts...)
	addDiagnosis(&r, v.name)
	return r
}

// said sends the details of the events of one chunk.
func (v *reader) said(w http.ResponseWriter, r *http.Request) {
	chunk, err := strconv.Atoi(r.URL.Query().Get("chunk"))
	if err != nil {
		http.Error(w, "chunk: want the number of one", http.StatusBadRequest)
		return
	}
	said, err := v.file.Look(chunk)
	page.WriteJSON(w, said, err)
}

// isRegular reports whether a file can be read twice.
func isRegular(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular() && info.Size() <= largestView
}

// serveFile serves the page of a trace on loopback until ctx is done. It starts before the trace
// has been read.
func serveFile(ctx context.Context, env environment, name string) error {
	file, err := os.Open(name)
	if err != nil {
		return usage("%s: %w", name, reason(err))
	}
	defer file.Close()
	ctx, stop := context.WithCancel(ctx)
	v := &reader{file: view.NewFile(file), name: name, title: titleOf(name)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		v.file.Read(ctx)
	}()
	defer func() {
		stop()
		<-ended
	}()
	if _, isOne := v.file.Columns(0); !isOne {
		_, err := v.file.Report(v.title)
		return usage("%s: %w", name, reason(err))
	}
	info, err := file.Stat()
	if err != nil {
		return usage("%s: %w", name, reason(err))
	}
	var text bytes.Buffer
	if err := view.Reading(&text, v.title, info.Size()); err != nil {
		return err
	}
	shown, listener, err := localPage(text.Bytes())
	if err != nil {
		return err
	}
	shown.More = map[string]http.HandlerFunc{"/columns": v.columns, "/said": v.said, "/search": v.search}
	return servePage(ctx, env, shown, listener, func() {
		// After an interrupt, problems are not printed.
		if r := v.report(); ctx.Err() == nil {
			printProblems(env, name, r.Problems)
		}
	})
}

// localPage returns a page on loopback.
func localPage(text []byte) (*page.Page, net.Listener, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, &failure{code: exitEnvironment, err: fmt.Errorf("listening for a browser: %w", err)}
	}
	shown, err := page.New(listener.Addr().String())
	if err != nil {
		return nil, nil, errors.Join(err, listener.Close())
	}
	shown.Text = func() ([]byte, error) { return text, nil }
	return shown, listener, nil
}

// servePage serves a page until ctx is done. It calls left when the server runs.
func servePage(ctx context.Context, env environment, p *page.Page, at net.Listener, left func()) error {
	stop := page.Serve(at, p.Beside(http.NotFoundHandler()))
	fmt.Fprintf(env.stdout, "See it in a browser: %s\nStop with Ctrl-C\n", p.Address())
	left()
	<-ctx.Done()
	return errors.Join(stop(), hungUp(ctx))
}
