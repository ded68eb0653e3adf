package excerpt

import "github.com/csisim/csisim/internal/world/lazyregexp"

// Paths shortens long paths in a text to their last two elements.
func Paths(text string) string { return longPath().ReplaceAllString(text, "…/$1") }

var longPath = lazyregexp.New(`(?:/[^\s/'",;:)\]]+){3,}/([^\s/'",;:)\]]+/[^\s/'",;:)\]]+)`)
