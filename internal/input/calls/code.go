package calls

import (
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/internal/input/strict"
)

// Code is the name of a gRPC code, such as Internal.
type Code string

// codeNames are the names of the codes by their numbers.
var codeNames = func() []string {
	var names []string
	for code := codes.OK; code <= codes.Unauthenticated; code++ {
		names = append(names, code.String())
	}
	return names
}()

// Wanted describes the names.
func (Code) Wanted() string { return "a gRPC code: " + strings.Join(codeNames, ", ") }

// UnmarshalStrict reads the name.
func (c *Code) UnmarshalStrict(n *strict.Node) {
	name, ok := n.Text()
	switch {
	case !ok:
		n.ReportWrong(c.Wanted())
	case !slices.Contains(codeNames, name):
		n.ReportUnknown(n.Found(), name, c.Wanted(), codeNames)
	}
	*c = Code(name)
}

// JSONSchema lists the names.
func (Code) JSONSchema() map[string]any {
	names := make([]any, len(codeNames))
	for i, name := range codeNames {
		names[i] = name
	}
	return map[string]any{"enum": names}
}

// GRPC returns the code; an empty name is OK.
func (c Code) GRPC() codes.Code { return codes.Code(max(0, slices.Index(codeNames, string(c)))) }
