package report

import (
	"os"

	"golang.org/x/sys/unix"
)

// Terminal describes the abilities of an output.
type Terminal struct {
	// Live is set for a terminal on which lines can be rewritten. Default: a pipe or file.
	Live bool
	// Color is set if ANSI colours are supported and enabled.
	Color bool
	// Width is the number of columns; 0 is unlimited.
	Width int
}

// usualWidth is the width of a terminal that does not report its width.
const usualWidth = 80

// TerminalOf inspects an output and the environment: NO_COLOR and TERM=dumb disable colours,
// TERM=dumb also disables the rewriting of lines.
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
