package verdict

import (
	"fmt"
	"strings"
)

// Sentence is the words of a verdict. Its name is the same text with an ellipsis in place of the
// parts that vary between runs.
type Sentence struct {
	Text string
	name string
}

// kept and quoted mark arguments of [Say].
type (
	kept   struct{ any }
	quoted struct{ text string }
)

// Kept marks an argument of [Say] that is the same in all runs and belongs to the name, such as a
// method or a code.
func Kept(value any) any { return kept{value} }

// Quoted marks an argument of [Say] that quotes another program. The name contains its text without
// ids, paths, numbers and times.
func Quoted(text string) any { return quoted{text} }

// Say renders a sentence. In its name an ellipsis replaces every argument that is neither [Kept]
// nor [Quoted].
func Say(format string, args ...any) Sentence {
	shown, named := make([]any, len(args)), make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case kept:
			shown[i], named[i] = arg.any, arg.any
		case quoted:
			shown[i], named[i] = arg.text, general(arg.text)
		case Sentence:
			shown[i], named[i] = arg.Text, arg.name
		default:
			shown[i], named[i] = arg, ellipsis{}
		}
	}
	return Sentence{Text: fmt.Sprintf(format, shown...), name: fmt.Sprintf(format, named...)}
}

// Aside returns the sentence with additional words that are not part of its name.
func (s Sentence) Aside(format string, args ...any) Sentence {
	s.Text += fmt.Sprintf(format, args...)
	return s
}

// Instead returns the sentence with other words and the same name.
func (s Sentence) Instead(text string) Sentence {
	s.Text = text
	return s
}

// ellipsis is an argument that every verb renders as an ellipsis.
type ellipsis struct{}

// Format renders it.
func (ellipsis) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte("…")) }

// tidy merges successive ellipses, and keeps one at the end.
func tidy(name string) string {
	name = joined().ReplaceAllString(name, "…")
	name = objects().ReplaceAllString(name, "$1 …")
	ending := ""
	if strings.HasSuffix(strings.TrimRight(name, " "), "…") {
		ending = " …"
	}
	return strings.TrimSpace(strings.TrimRight(name, " :,(…")) + ending
}
