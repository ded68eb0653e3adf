package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTemporaryFilesAreRecordedWithoutTheirNumbers(t *testing.T) {
	for name, want := range map[string]string{
		"/state/.next-392198429":                        "/state/.next-*",
		"/state/vol42.json":                             "/state/vol42.json",
		"/tmp/x123456789.json":                          "/tmp/x*.json",
		"/k/pvc-281a4fdc-0000-4000-8000-000000000013":   "/k/pvc-281a4fdc-0000-4000-8000-000000000013",
		"/k/281a4fdc-0000-4000-8000-000000000013/mount": "/k/281a4fdc-0000-4000-8000-000000000013/mount",
		"": "",
	} {
		assert.Equal(t, want, named(name))
	}
}
