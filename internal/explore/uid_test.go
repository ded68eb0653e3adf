package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUIDsDoNotCountInNamesOfChoices(t *testing.T) {
	const uid = "281a4091-0000-4000-8000-00000000000c"
	for text, without := range map[string]string{
		"":                                "",
		"csi-provisioner":                 "csi-provisioner",
		"a-b-c-d-e of node-a by x.y-z":    "a-b-c-d-e of node-a by x.y-z",
		uid:                               "…",
		"CreateVolume of pvc-" + uid:      "CreateVolume of pvc-…",
		"pvc-" + uid + " of " + uid + "!": "pvc-… of …!",
		"00" + uid + "00":                 "00…00",
		uid + uid:                         "……",
		"281A4091" + uid[8:]:              "281A4091" + uid[8:],
		uid[:35]:                          uid[:35],
	} {
		assert.Equal(t, without, withoutUIDs(text))
	}
}
