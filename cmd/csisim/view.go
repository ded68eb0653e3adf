package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/view"
)

// viewFlags holds the flags of csisim view.
type viewFlags struct {
	output string
}

func newView(env environment) *cobra.Command {
	var f viewFlags
	command := &cobra.Command{
		Use:   "view TRACE [OTHER]",
		Short: "Show a trace in a browser",
		Long: `Show a trace in a browser: one that csisim run --trace has written, or a recording
of a real cluster. The page shows the events in lanes over virtual time, every call,
and the objects, mounts and files at any instant.

It is served on loopback, to clients with the token in its address, until Ctrl-C;
with --output it is written to a self-contained file. A truncated or damaged trace is
shown without its unreadable parts. With OTHER, a second trace, the page shows both side
by side, aligned as by csisim diff, with the first difference of each level.`,
		Example: `  csisim view mine.jsonl
  csisim view scenarios/golden/lifecycle-attach.jsonl --output lifecycle.html
  csisim view scenarios/golden/lifecycle-attach.jsonl mine.jsonl`,
		Args: func(command *cobra.Command, args []string) error {
			if err := needs("a TRACE")(command, args); err != nil {
				return err
			}
			return atMost(2)(command, args)
		},
		ValidArgsFunction: cobra.FixedCompletions([]string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt),
		RunE: func(command *cobra.Command, args []string) error {
			return viewTrace(command.Context(), env, f, args)
		},
	}
	command.Flags().StringVarP(&f.output, "output", "o", "", "write the page to `FILE`")
	complete(command, "output", cobra.FixedCompletions([]string{"html"}, cobra.ShellCompDirectiveFilterFileExt))
	return command
}

func viewTrace(ctx context.Context, env environment, f viewFlags, names []string) error {
	name := names[0]
	if f.output == "" && len(names) == 1 && isRegular(name) {
		return serveFile(ctx, env, name)
	}
	release, err := outputFiles{"output": f.output}.reserve()
	if err != nil {
		return err
	}
	defer release()
	for _, name := range names {
		announce(env, name)
	}
	shown := view.NewEncoder()
	problems, err := readView(name, shown)
	if err != nil {
		return err
	}
	printProblems(env, name, problems)
	r := shown.Recorded(titleOf(name), problems)
	r.Facts = append([][2]string{{"Trace", name}}, r.Facts...)
	addDiagnosis(&r, name)
	var other []view.Chunk
	if len(names) > 1 {
		if r.Compare, err = compared(name, names[1]); err != nil {
			return err
		}
		r.Sentence = sentenceOf(r.Compare)
		if other, err = readOther(names[1]); err != nil {
			return err
		}
	}
	chunks, err := shown.Chunks()
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return view.WriteBoth(w, r, chunks, other) }
	if f.output != "" {
		return writeFile(f.output, "page", write)
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	served, listener, err := localPage(text.Bytes())
	if err != nil {
		return err
	}
	return servePage(ctx, env, served, listener, func() {})
}

// titleOf returns the title of the page of a trace.
func titleOf(name string) string { return strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)) }

// printProblems prints the parts of a trace that could not be read.
func printProblems(env environment, name string, problems []string) {
	for _, p := range problems {
		fmt.Fprintf(env.stderr, "csisim: %s: %s\n", name, p)
	}
}

// slowView is the size in bytes above which packing a trace into a page takes seconds, so that
// csisim prints a message.
const slowView = 32 << 20

// announce prints that packing a large trace takes a while.
func announce(env environment, name string) {
	if info, err := os.Stat(name); err == nil && info.Size() >= slowView {
		fmt.Fprintf(env.stderr, "csisim: %s has %d MB: all of it goes into the page, which takes a while\n", name, info.Size()/1_000_000)
	}
}

// largestView is the size in bytes of the largest trace that is shown.
const largestView = 4 << 30

func readView(name string, to *view.Encoder) ([]string, error) {
	file, err := strict.OpenFile(name, largestView, "a trace")
	if err != nil {
		return nil, usage("%s: %w", name, errors.Unwrap(err))
	}
	defer file.Close()
	problems, err := to.Read(file)
	if err != nil {
		return nil, usage("%s: %w", name, reason(err))
	}
	return problems, nil
}

// readOther reads the trace for the comparison beside the first one.
func readOther(name string) ([]view.Chunk, error) {
	other := view.NewEncoder()
	if _, err := readView(name, other); err != nil {
		return nil, err
	}
	return other.Chunks()
}
