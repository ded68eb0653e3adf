package kindcluster

import (
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/kind/pkg/log"
)

// logger writes kind's status lines, and none of its other messages.
type logger struct{ out io.Writer }

func newLogger(out io.Writer) log.Logger {
	if out == nil {
		return log.NoopLogger{}
	}
	return logger{out}
}

func (l logger) print(text string) { fmt.Fprintln(l.out, strings.TrimRight(text, "\n")) }

func (l logger) Warn(message string)               { l.print(message) }
func (l logger) Warnf(format string, args ...any)  { l.print(fmt.Sprintf(format, args...)) }
func (l logger) Error(message string)              { l.print(message) }
func (l logger) Errorf(format string, args ...any) { l.print(fmt.Sprintf(format, args...)) }

func (l logger) V(level log.Level) log.InfoLogger {
	if level > 0 {
		return log.NoopInfoLogger{}
	}
	return status{l}
}

type status struct{ logger }

func (s status) Info(message string)              { s.print(message) }
func (s status) Infof(format string, args ...any) { s.print(fmt.Sprintf(format, args...)) }
func (status) Enabled() bool                      { return true }
