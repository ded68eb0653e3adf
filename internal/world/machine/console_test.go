package machine_test

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

func attached(script string, s machine.Stdio) machine.Command {
	c := shell(script)
	c.Attached = &s
	return c
}

func TestAProgramHasTheStreamsOfItsCaller(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		var out, errs bytes.Buffer
		p, err := m.Start(attached("cat; echo oops >&2; exit 3", machine.Stdio{In: strings.NewReader("hello"), Out: &out, Err: &errs}))
		require.NoError(t, err)
		code, err := p.Await(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 3, code)
		assert.Equal(t, "hello", out.String())
		assert.Equal(t, "oops\n", errs.String())
	})
}

func TestAProgramIsKilledWhenItsCallerStopsWaiting(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		p, err := m.Start(attached("sleep 60", machine.Stdio{Out: io.Discard}))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err = p.Await(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		<-p.Done()
	})
}

func TestATerminalControlsItsProgram(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		var out bytes.Buffer
		sizes := make(chan machine.TerminalSize, 1)
		sizes <- machine.TerminalSize{Width: 90, Height: 30}
		close(sizes)
		c := attached("sleep 0.2; stty size; cat", machine.Stdio{In: strings.NewReader("typed\n\x04"), Out: &out, Resize: sizes})
		c.Terminal = true
		p, err := m.Start(c)
		require.NoError(t, err)
		<-p.Done()
		assert.Contains(t, out.String(), "30 90\r\n")
		assert.Equal(t, 2, strings.Count(out.String(), "typed\r\n"), "the terminal's echo, and the program's: %q", out.String())
	})
}

func TestAttachedClientsReadAndWrite(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		c := shell("read line; echo got $line; read line || echo end")
		c.Stdout = filepath.Join(t.TempDir(), "log")
		c.Stderr, c.Began, c.Stdin, c.StdinOnce = c.Stdout, time.Now(), true, true
		p, err := m.Start(c)
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, p.Attach(t.Context(), machine.Stdio{In: strings.NewReader("this\n"), Out: &out}))
		assert.Equal(t, "got this\nend\n", out.String())
		<-p.Done()
	})
}

func TestAProgramBesideAnotherEndsWithIt(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		host, err := m.Start(shell("sleep 60"))
		require.NoError(t, err)
		beside := attached("sleep 60", machine.Stdio{})
		beside.Beside = host
		guest, err := m.Start(beside)
		require.NoError(t, err)
		require.NoError(t, host.Kill())
		select {
		case <-guest.Done():
		case <-time.After(time.Minute):
			t.Fatal("it lives")
		}
		_, err = m.Start(beside)
		assert.Error(t, err, "its host has ended")
	})
}
