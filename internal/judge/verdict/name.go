package verdict

import (
	"regexp"
	"strings"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// general renders the words of another program without the parts that belong to one run: ids,
// paths, times, pointers, and the names of pods and claims.
func general(text string) string {
	name, _, _ := strings.Cut(text, "\n")
	name = remarks().ReplaceAllString(name, "")
	for _, part := range ownParts {
		name = part().ReplaceAllString(name, "${1}…")
	}
	return name
}

// remarks match words in parentheses.
var remarks = lazyregexp.New(`\s*\((?:[^()]|\([^()]*\))*\)`)

// ownParts match the parts that belong to one run.
var ownParts = []func() *regexp.Regexp{
	lazyregexp.New("()\"[^\"]*\"|`[^`]*`"),                            // quotations
	lazyregexp.New(`()&?[\[{].*[\]}]`),                                // Go values, lists
	lazyregexp.New(`(^|[\s=:,])/[^\s,;]*`),                            // paths
	lazyregexp.New(`\b((?:pod|pvc|pv|va|volumesnapshot|volume) )\S+`), // objects
	lazyregexp.New(`\b(on )node-[a-z]\b`),                             // nodes
	// The driver that does not start.
	lazyregexp.New(`(: start driver )[^:]+`),
	lazyregexp.New(`\b(killed at )[A-Za-z/]+`),           // the place of a kill
	lazyregexp.New(`(^|[\s=:,])[^\s=:,]*[0-9][^\s:,;]*`), // ids, numbers, times
}

// joined matches ellipses that follow each other.
var joined = lazyregexp.New(`…(?:[\s,:=.;]*…)+`)

// objects matches an object without its name, and the punctuation after it.
var objects = lazyregexp.New(`\b(pod|pvc|pv|va|volumesnapshot|volume) …\S+`)
