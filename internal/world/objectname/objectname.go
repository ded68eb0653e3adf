// Package objectname checks the names of objects. Most names must be valid DNS names. Names are
// checked on every write, so obviously valid names are accepted without a regular expression.
package objectname

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
)

// Subdomain is validation.NameIsDNSSubdomain.
func Subdomain(name string, prefix bool) []string {
	if plain(name, utilvalidation.DNS1123SubdomainMaxLength, '.') {
		return nil
	}
	return validation.NameIsDNSSubdomain(name, prefix)
}

// Label is validation.IsDNS1123Label.
func Label(name string) []string {
	if plain(name, utilvalidation.DNS1123LabelMaxLength, '-') {
		return nil
	}
	return utilvalidation.IsDNS1123Label(name)
}

// Qualified is validation.IsQualifiedName: the name of a finalizer, the key of a label or the type
// of a condition.
func Qualified(name string) []string {
	prefix, last, prefixed := strings.Cut(name, "/")
	if !prefixed {
		last = prefix
	}
	if (!prefixed || plain(prefix, utilvalidation.DNS1123SubdomainMaxLength, '.')) && plainKey(last) {
		return nil
	}
	return utilvalidation.IsQualifiedName(name)
}

// LabelValue is validation.IsValidLabelValue.
func LabelValue(value string) []string {
	if value == "" || plainKey(value) {
		return nil
	}
	return utilvalidation.IsValidLabelValue(value)
}

// maxKey is the longest name of a key, without its prefix, and the longest value of a label.
const maxKey = 63

// plainKey reports whether a name consists of letters and digits, with single dots, dashes or
// underscores between them.
func plainKey(name string) bool {
	if name == "" || len(name) > maxKey {
		return false
	}
	between := false
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && (!between || c != '-' && c != '.' && c != '_') {
			return false
		}
		between = letter
	}
	return between
}

// plain reports whether a name consists of lower case letters and digits with single separators
// between them. The separators are dots or dashes; dots are permitted only if the separator is a
// dot.
func plain(name string, limit int, separator byte) bool {
	if name == "" || len(name) > limit {
		return false
	}
	between := false
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !letter && (!between || c != '-' && c != separator) {
			return false
		}
		between = letter
	}
	return between
}

// PathSegment accepts every name that fits into one segment of a URL's path.
func PathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}
