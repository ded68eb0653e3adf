package store

import (
	"k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
)

// subdomainName is validation.NameIsDNSSubdomain, without its regular expression
// for names that are plainly right: names are checked on every write.
func subdomainName(name string, prefix bool) []string {
	if plain(name, utilvalidation.DNS1123SubdomainMaxLength, '.') {
		return nil
	}
	return validation.NameIsDNSSubdomain(name, prefix)
}

// labelName is the same for DNS labels.
func labelName(name string) []string {
	if plain(name, utilvalidation.DNS1123LabelMaxLength, '-') {
		return nil
	}
	return utilvalidation.IsDNS1123Label(name)
}

// plain reports whether a name consists of lower case letters and digits with
// single dots or dashes between them, no dots but where the separator is one.
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
