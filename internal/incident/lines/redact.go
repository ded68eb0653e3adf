package lines

import (
	"regexp"
	"strings"

	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/trace"
)

// signs are parts of words; each line with a secret has one of them. Most lines have none, so they
// need no search.
var signs = []string{"assw", "ASSW", "assphrase", "ecret", "ECRET", "oken", "OKEN", "redential", "CREDENTIAL", "earer ", "eyJ", "rivate", "PRIVATE", "AKIA", "pikey", "piKey", "Key", "_key", "://"}

var (
	named = lazyregexp.New(`(?i)([\w.-]*(?:passw(?:or)?d|passphrase|secret|token|credentials?|api_?key|access_?key|private_?key|user_?key|admin_?key|encryption_?key|_key))(\\*["']?\s*[:=]\s*)(\\*"(?:[^"\\]|\\[^"])*\\*"|[^\s,;}\])"']+)`)
	plain = []func() *regexp.Regexp{
		lazyregexp.New(`(?i)(bearer\s+)[A-Za-z0-9._~+/-]{8,}=*`),
		lazyregexp.New(`()eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`),
		lazyregexp.New(`()\bAKIA[0-9A-Z]{16}\b`),
		lazyregexp.New(`(://[^\s:/@]+:)[^\s@/]+@`),
		lazyregexp.New(`(-----BEGIN [A-Z ]*PRIVATE KEY-----).*`),
		lazyregexp.New(`(\bsecrets\\*"?:\s*\{)[^{}]+`),
	}
)

// redactor replaces the secrets in lines.
type redactor struct{ inKey bool }

func (d *redactor) redacted(line string) string {
	if d.inKey {
		d.inKey = !strings.Contains(line, "-----END ")
		return trace.Redacted
	}
	if !suspicious(line) {
		return line
	}
	line = named().ReplaceAllStringFunc(line, redactedPair)
	for i, form := range plain {
		if i == 3 {
			line = form().ReplaceAllString(line, "${1}"+trace.Redacted+"@")
			continue
		}
		line = form().ReplaceAllString(line, "${1}"+trace.Redacted)
	}
	if begin := strings.LastIndex(line, " PRIVATE KEY-----"); begin >= 0 && !strings.Contains(line, "-----END ") {
		d.inKey = true
	}
	return line
}

func suspicious(line string) bool {
	for _, sign := range signs {
		if strings.Contains(line, sign) {
			return true
		}
	}
	return false
}

// surely are suffixes of names that always have secret values. Values of other names are redacted
// only if they look like secrets, because "secret" also names objects.
var surely = lazyregexp.New(`(?i)(passw(or)?d|passphrase)$`)

// redactedPair hides the value of a pair, unless it is obviously not secret.
func redactedPair(pair string) string {
	parts := named().FindStringSubmatch(pair)
	name, between, shown := parts[1], parts[2], strings.Trim(parts[3], `\"`)
	isNamed := !surely().MatchString(name) && (!trace.LooksSecret(shown) || strings.Contains(shown, "/") && strings.HasSuffix(strings.ToLower(name), "secret"))
	if shown == "" || strings.HasPrefix(shown, "***") || isNamed {
		return pair
	}
	return name + between + strings.Replace(parts[3], shown, trace.Redacted, 1)
}
