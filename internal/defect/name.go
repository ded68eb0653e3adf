// Package defect gives what goes wrong in runs names that are the same in all of them.
package defect

import (
	"regexp"
	"strings"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// NameOf is what a defect is called: its verdict without what is one run's own, such as ids,
// paths, times, pointers, and which of the pods and claims it was. Equal defects have equal
// names, in every trial and in every run.
func NameOf(verdict string) string {
	if leak := leakOf().FindStringSubmatch(verdict); leak != nil {
		return leakName(leak[1], verdict)
	}
	name, _, _ := strings.Cut(verdict, " (and ")
	name = remarks().ReplaceAllString(name, "")
	name = partsOfTime().ReplaceAllString(name, "${1}")
	for _, part := range ownParts {
		name = part().ReplaceAllString(name, "${1}…")
	}
	name = refilled().ReplaceAllString(name, "…")
	if idempotent := answersDiffer().FindString(name); idempotent != "" {
		name = idempotent // which of its words a driver uses does not count
	}
	return strings.TrimSpace(strings.TrimRight(name, " :,(…")) + ending(name)
}

// ending keeps the sign for what was left out, if the name ends with it.
func ending(name string) string {
	if strings.HasSuffix(strings.TrimRight(name, " "), "…") {
		return " …"
	}
	return ""
}

// remarks are what stands in parentheses.
var remarks = lazyregexp.New(`\s*\((?:[^()]|\([^()]*\))*\)`)

// partsOfTime are the fields in which two times happen to differ.
var partsOfTime = lazyregexp.New(`(time)\.(?:seconds|nanos)\b`)

// ownParts are the parts of a verdict that are those of one run.
var ownParts = []func() *regexp.Regexp{
	lazyregexp.New(`^(\w+ logs a secret: ).*`),                        // a line of a log
	lazyregexp.New("()\"[^\"]*\"|`[^`]*`"),                            // quotations
	lazyregexp.New(`()&?[\[{].*[\]}]`),                                // Go values, lists
	lazyregexp.New(`(^|[\s=:,])/[^\s,;]*`),                            // paths
	lazyregexp.New(`\b((?:pod|pvc|pv|va|volumesnapshot|volume) )\S+`), // objects
	lazyregexp.New(`^(driver died: driver )\S+(?: on \S+)?`),          // whose program it was
	lazyregexp.New(`(: start driver )[^:]+`),                          // whose does not start
	lazyregexp.New(`\b(killed at )[A-Za-z/]+`),                        // where somebody was killed
	lazyregexp.New(`(^|[\s=:,])[^\s=:,]*[0-9][^\s:,;]*`),              // ids, numbers, times
}

// refilled are signs for what was left out that follow each other.
var refilled = lazyregexp.New(`…(?:[\s,:=.;]*…)+`)

// answersDiffer is all that counts of a call that answers otherwise when it is repeated.
var answersDiffer = lazyregexp.New(`^\w+ is not idempotent: OK, then [A-Z]\w+`)

var (
	leakOf   = lazyregexp.New(`^left behind: (mount|directory|file|volume data|loop device|process|VolumeAttachment|attachment|volume|snapshot|group snapshot|fence) `)
	leakMade = lazyregexp.New(`: made by (?:the )?(\w+)`)
	leakUndo = lazyregexp.New(`should have gone with (\w+)(, which never came)?`)
)

// leakName is a leak by what it is, which call made it, and which should have taken it away.
func leakName(kind, verdict string) string {
	name := "left behind: " + kind
	if made := leakMade().FindStringSubmatch(verdict); made != nil {
		name += " of " + made[1]
	}
	if undo := leakUndo().FindStringSubmatch(verdict); undo != nil {
		name += ", in spite of " + undo[1]
		if undo[2] != "" {
			name = strings.Replace(name, "in spite of "+undo[1], "without "+undo[1], 1)
		}
	}
	return name
}
