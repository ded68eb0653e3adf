// Package lazyregexp has regular expressions that are compiled when they are first used. Most runs
// of the command use none of the expressions that it links.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns the regular expression of a pattern. It panics on its first use if the pattern is
// wrong.
func New(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
