package trace

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// madeUp begins the values of secrets that csisim itself generates.
const madeUp = "made-up-"

// credentialWords end the keys of values that must stay secret. Other keys name users, addresses,
// regions and identifiers.
var credentialWords = []string{"password", "passwd", "pwd", "pass", "passphrase", "passcode", "secret", "token", "key", "keyring", "credential", "apikey"}

// formats are words at the end of keys that name the encoding of a value.
var formats = []string{"json", "yaml", "pem", "txt", "data", "value", "base64", "b64", "plain", "old", "new", "current", "previous"}

// NamesCredential reports whether the last word of a secret's key names a credential, as in
// accessKey, client_secret or api-token, and not in accessKeyID, userName or tokenURL.
func NamesCredential(key string) bool {
	words := wordsOf(key)
	for len(words) > 1 && isFormat(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return false
	}
	last := strings.TrimSuffix(strings.TrimRight(words[len(words)-1], "0123456789"), "s")
	return slices.ContainsFunc(credentialWords, func(word string) bool { return strings.HasSuffix(last, strings.TrimSuffix(word, "s")) })
}

func isFormat(word string) bool {
	if strings.Trim(word, "0123456789") == "" {
		return true
	}
	return slices.Contains(formats, word)
}

// wordsOf splits a key at separators and upper case letters, and returns its words in lower case.
func wordsOf(key string) (words []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = nil
		}
	}
	runes := []rune(key)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end()
		}
		word = append(word, r)
	}
	end()
	return words
}

// Credential is a value of a request that the driver must not reveal.
type Credential struct{ Key, Value string }

// Credentials returns the credentials in a request: generated values of its secrets, values of its
// secrets with a key that names a credential, and tokens of service accounts.
func Credentials(request proto.Message) (all []Credential) {
	if request == nil || !request.ProtoReflect().IsValid() {
		return nil
	}
	request.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if !f.IsMap() || f.MapKey().Kind() != protoreflect.StringKind || f.MapValue().Kind() != protoreflect.StringKind {
			return true
		}
		v.Map().Range(func(k protoreflect.MapKey, value protoreflect.Value) bool {
			switch key, text := k.String(), value.String(); {
			case key == tokensKey:
				for _, t := range tokensIn(text) {
					all = append(all, Credential{key, t})
				}
			case isSecret(f) && isCredential(key, text):
				all = append(all, Credential{key, text})
			}
			return true
		})
		return true
	})
	slices.SortFunc(all, func(a, b Credential) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value))
	})
	return all
}

// isCredential reports whether a value of a secret is a credential.
func isCredential(key, value string) bool {
	return strings.HasPrefix(value, madeUp) || NamesCredential(key)
}

// tokensIn returns the tokens of service accounts in the text that the kubelet passes to a driver.
func tokensIn(text string) (all []string) {
	var byAudience map[string]*token
	if json.Unmarshal([]byte(text), &byAudience) != nil {
		return nil
	}
	for _, t := range byAudience {
		if t != nil && t.Token != "" {
			all = append(all, t.Token)
		}
	}
	return all
}
