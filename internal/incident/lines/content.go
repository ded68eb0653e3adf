package lines

import (
	"bytes"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// content is the kind of a file, found by its first bytes.
type content int

const (
	textual content = iota
	gzipped
	tarred
	objectsJSON
	objectsYAML
	zipped
	xzipped
	zstandard
	bzipped
	binary
)

var magic = []struct {
	begin string
	is    content
}{
	{"\x1f\x8b", gzipped}, {"PK\x03\x04", zipped}, {"\xfd7zXZ\x00", xzipped}, {"\x28\xb5\x2f\xfd", zstandard}, {"BZh", bzipped},
}

var (
	manifestJSON = lazyregexp.New(`"(?:apiVersion|kind)"\s*:\s*"[A-Za-z0-9./]+"`)
	manifestYAML = lazyregexp.New(`(?m)^(?:- )?apiVersion:\s*\S+\s*$`)
	auditLine    = lazyregexp.New(`^\s*\{[^\n]*"audit\.k8s\.io/`)
)

// kindOf finds the kind of a file by its first bytes.
func kindOf(head []byte) content {
	for _, m := range magic {
		if bytes.HasPrefix(head, []byte(m.begin)) {
			return m.is
		}
	}
	switch {
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return tarred
	case isBinary(head):
		return binary
	case auditLine().Match(head):
		return textual
	case isManifest(head):
		return objectsJSON
	case manifestYAML().Match(head) && !bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")):
		return objectsYAML
	}
	return textual
}

// isManifest reports whether a file begins with a JSON object that is not a log line.
func isManifest(head []byte) bool {
	head = bytes.TrimLeft(head, " \r\n\t")
	if !bytes.HasPrefix(head, []byte("{")) || !manifestJSON().Match(head) {
		return false
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	for _, name := range []string{`"msg"`, `"message":`, `"MESSAGE"`, `"log":`} {
		if at := bytes.Index(line, []byte(name)); at >= 0 && !bytes.Contains(line[:at], []byte(`"items"`)) && !bytes.Contains(line[:at], []byte(`"metadata"`)) {
			return false
		}
	}
	return bytes.Contains(head, []byte(`"apiVersion"`))
}

// isBinary reports whether a file is not text: it has zeros, or many control characters.
func isBinary(head []byte) bool {
	odd := 0
	for _, b := range head {
		switch {
		case b == 0:
			return true
		case b < ' ' && b != '\n' && b != '\r' && b != '\t' && b != 0x1b:
			odd++
		}
	}
	return odd*20 > len(head)
}

// refusal returns the reason why a file is not read.
func (c content) refusal() string {
	if c == zipped {
		return "is a zip archive, which is not read: unpack it and name the folder"
	}
	return "is not text: it is left out"
}
