package definition

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type names = apiextensionsv1.CustomResourceDefinitionNames

// taken holds the names that other definitions of a group use.
type taken struct{ resources, kinds []string }

func takenBy(others []*apiextensionsv1.CustomResourceDefinition) taken {
	var t taken
	for _, other := range others {
		has := other.Status.AcceptedNames
		t.resources = append(append(t.resources, has.Plural, has.Singular), has.ShortNames...)
		t.kinds = append(t.kinds, has.Kind, has.ListKind)
	}
	return t
}

// accept gives a definition its wanted names, except for names that another definition has. The
// reason and the message describe the last conflict; "" if there is none.
func accept(wanted, has names, t taken) (accepted names, reason, message string) {
	accepted = has
	claim := func(name string, into *string, among []string, conflict string) {
		if name != *into && slices.Contains(among, name) {
			reason, message = conflict, inUse(name)
			return
		}
		*into = name
	}
	claim(wanted.Plural, &accepted.Plural, t.resources, "PluralConflict")
	claim(wanted.Singular, &accepted.Singular, t.resources, "SingularConflict")
	if conflicts := shortConflicts(wanted, has, t); conflicts != "" {
		reason, message = "ShortNamesConflict", conflicts
	} else {
		accepted.ShortNames = wanted.ShortNames
	}
	claim(wanted.Kind, &accepted.Kind, t.kinds, "KindConflict")
	claim(wanted.ListKind, &accepted.ListKind, t.kinds, "ListKindConflict")
	accepted.Categories = wanted.Categories
	return accepted, reason, message
}

func shortConflicts(wanted, has names, t taken) string {
	var conflicts []string
	for _, name := range wanted.ShortNames {
		if !slices.Contains(has.ShortNames, name) && slices.Contains(t.resources, name) {
			conflicts = append(conflicts, inUse(name))
		}
	}
	if len(conflicts) > 1 {
		return "[" + strings.Join(conflicts, ", ") + "]"
	}
	return strings.Join(conflicts, "")
}

func inUse(name string) string { return fmt.Sprintf("%q is already in use", name) }
