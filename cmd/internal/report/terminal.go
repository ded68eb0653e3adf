package report

import (
	"os"

	"golang.org/x/sys/unix"
)

// Terminal is what can be done with an output.
type Terminal struct {
	// Live says that it is a terminal on which lines can be rewritten. Default: a pipe or file.
	Live bool
	// Color says that ANSI colours are understood and wanted.
	Color bool
	// Width is the number of columns; 0 is unlimited.
	Width int
}

// usualWidth is assumed of a terminal that does not know its width.
const usualWidth = 80

// TerminalOf looks at an output and at the environment: NO_COLOR and TERM=dumb
// switch colours off, TERM=dumb also the rewriting of lines.
func TerminalOf(out *os.File, getenv func(string) string) Terminal {
	size, err := unix.IoctlGetWinsize(int(out.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return Terminal{}
	}
	columns := int(size.Col)
	if columns == 0 {
		columns = usualWidth
	}
	smart := getenv("TERM") != "dumb"
	return Terminal{Live: smart, Color: smart && getenv("NO_COLOR") == "", Width: columns}
}
