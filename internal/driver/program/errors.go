package program

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// The errors of a program that does not become a running driver. A socket path that is too long is
// a *machine.SocketPathError.
var (
	ErrNotFound      = errors.New("program not found")
	ErrNotExecutable = errors.New("program is not executable")
	ErrExited        = errors.New("program exited")
	ErrNotListening  = errors.New("no process listens at the socket")
	ErrNotCSI        = errors.New("the program at the socket does not speak CSI")
	ErrWrongDriver   = errors.New("another driver answers")
	ErrNotReady      = errors.New("driver is not ready")
)

// ErrTooSlow is wrapped by the error of a program that has not answered in time.
var ErrTooSlow = errors.New("driver takes too long to start")

// slowError is the problem that a program still had at the end of its start timeout.
type slowError struct {
	problem error
	timeout time.Duration
}

func (e *slowError) Error() string {
	return fmt.Sprintf("%v (waited %v): startTimeout of its program, or --start-timeout of csisim check, gives it longer", e.problem, e.timeout)
}

func (e *slowError) Unwrap() []error { return []error{e.problem, ErrTooSlow} }

// StartError is the error of a driver that could not be started. The reporter adds the driver's
// name. It wraps one of the errors above and contains the end of the program's log.
type StartError struct {
	Driver, Node string
	Command      string // the command as it was started; empty if no program was started
	Log          string // host path, empty if the program never ran
	Tail         []string
	Err          error
}

// ProgramExited reports whether the program exited before it answered.
func (e *StartError) ProgramExited() bool { return errors.Is(e.Err, ErrExited) }

func (e *StartError) Error() string {
	var b strings.Builder
	b.WriteString(e.Err.Error())
	if e.Command != "" {
		b.WriteString("\n  command: " + e.Command)
	}
	switch {
	case e.Log == "":
	case len(e.Tail) == 0:
		b.WriteString("\n  it wrote nothing to " + filepath.Base(e.Log))
	default:
		b.WriteString("\n  " + EndOfLog + filepath.Base(e.Log) + ":")
		for _, line := range e.Tail {
			b.WriteString("\n    " + line)
		}
	}
	return b.String()
}

func (e *StartError) Unwrap() error { return e.Err }

// EndOfLog precedes the name of the log in a StartError.
const EndOfLog = "the end of "

// tailLines and tailBytes limit the part of a log in an error. usageBytes limits the part that is
// searched for a usage text.
const (
	tailLines  = 10
	tailBytes  = 8 << 10
	usageBytes = 64 << 10
)

// tail returns the last lines of a log. If a program rejects its flags, it returns only the lines
// about that, without the list of all flags that such programs print before or after them.
func tail(file string) []string {
	if said := complaints(lastLines(file, usageBytes)); len(said) > 0 {
		return said
	}
	lines := lastLines(file, tailBytes)
	return lines[max(0, len(lines)-tailLines):]
}

// complaints returns the lines of a log with a usage text that reject flags or arguments.
func complaints(lines []string) (said []string) {
	printsUsage := false
	for _, line := range lines {
		printsUsage = printsUsage || usageText().MatchString(line)
		if rejection().MatchString(line) && len(said) < tailLines && !slices.Contains(said, line) {
			said = append(said, line)
		}
	}
	if !printsUsage {
		return nil
	}
	return said
}

var (
	usageText = lazyregexp.New(`(?i)^\W*usage\b|\busage of\b`)
	rejection = lazyregexp.New(`(?i)provided but not defined|flag needs an argument|unknown (short|long)? ?(flag|option|argument)|unknown shorthand|unrecogni[sz]ed (argument|option)|no such option|invalid (value|argument|option)|unexpected argument|required (flag|option|argument)|(argument|option|flag)s? (is|are) required`)
)

// lastLines returns the lines within so many bytes from the end of a log. For a log that cannot be
// read, it returns none.
func lastLines(file string, bytes int64) []string {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	from := max(0, info.Size()-bytes)
	text := make([]byte, info.Size()-from)
	n, _ := f.ReadAt(text, from) // a short read is sufficient
	lines := strings.Split(strings.TrimRight(string(text[:n]), "\n"), "\n")
	if lines[0] == "" && len(lines) == 1 {
		return nil
	}
	if from > 0 {
		lines = lines[1:] // it begins in the middle
	}
	return lines
}
