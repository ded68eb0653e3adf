package lines_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Given an entry of several lines, then they are one record without lines of other entries.
// tracing-subscriber: src/fmt/format/pretty.rs; klog: internal/serialize.
func TestEntriesWithSeveralLines(t *testing.T) {
	const (
		first  = "  2026-11-28T12:47:26.1Z ERROR csi_node::filesystem_vol: Failed to stage volume v1: mkfs failed\n"
		second = "  2026-11-28T12:47:27.1Z  INFO csi_node::node: Volume v2 unstaged\n"
		place  = "    at control-plane/csi-driver/src/bin/node/filesystem_vol.rs:166\n"
		span   = `    in csi_controller::controller::create_volume with request: Request { message: CreateVolumeRequest { name: "pvc-1", secrets: {"pin": "4711"} } }, volume.uuid: "v1"` + "\n"
	)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"tracing, pretty", first + "mke2fs 1.47\n\ndevice is full\n" + place + "\n" + second + place + "\n", []string{
			`1 filesystem_vol.rs:166 "Failed to stage volume v1: mkfs failed\nmke2fs 1.47\ndevice is full" map[]`, `7 filesystem_vol.rs:166 "Volume v2 unstaged" map[]`}},
		{"tracing, pretty, with a thread and a span", first + place[:len(place)-1] + " on main\n" + span + "\nother\n", []string{
			`1 filesystem_vol.rs:166 "Failed to stage volume v1: mkfs failed" map[volume.uuid:v1]`, `5  "other" map[]`}},
		{"tracing, an error without a message", strings.Replace(first, "Failed to stage volume v1: mkfs failed", `error: status: NotFound, message: "no"`, 1) + place + span + "\n", []string{
			`1 filesystem_vol.rs:166 "create_volume: error: status: NotFound, message: \"no\"" map[volume.uuid:v1]`}},
		{"tracing, on one line", "2026-11-28T12:47:26.1Z ERROR csi_node::node: It happened\ntwice\n2026-11-28T12:47:27.1Z  INFO csi_node::node: Next\n", []string{
			`1 csi_node::node "It happened\ntwice" map[]`, `3 csi_node::node "Next" map[]`}},
		{"tracing, in a file of containerd", "2026-11-28T12:47:26.2Z stdout F " + first + "2026-11-28T12:47:26.2Z stdout F device is full\n2026-11-28T12:47:26.2Z stdout F " + place, []string{
			`1 filesystem_vol.rs:166 "Failed to stage volume v1: mkfs failed\ndevice is full" map[]`}},
		{"tracing, beside another container", "[pod/a/csi-node] " + first + "[pod/a/other] plain\n[pod/a/csi-node] " + place, []string{
			`1 csi_node::filesystem_vol "Failed to stage volume v1: mkfs failed" map[]`, `2  "plain" map[]`, `3  "    at control-plane/csi-driver/src/bin/node/filesystem_vol.rs:166" map[]`}},
		{"tracing, at the end of the logs of a container", "==== START logs for container csi-node of pod s/p ====\n" + first + "==== END logs for container csi-node of pod s/p ====\n" + second, []string{
			`2 csi_node::filesystem_vol "Failed to stage volume v1: mkfs failed" map[]`, `4 csi_node::node "Volume v2 unstaged" map[]`}},
		{"klog, a value with several lines", "E1128 12:47:26.1 1 a.go:1] \"It failed\" err=<\n\tfirst\n\tsecond\n > volume=\"v1\"\nI1128 12:47:27.1 1 a.go:2] \"Next\"\n", []string{
			`1 a.go:1 "It failed" map[err:first` + "\n\t" + `second volume:v1]`, `5 a.go:2 "Next" map[]`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, _ := read(t, c.text, nil)
			var got []string
			for _, r := range found {
				got = append(got, fmt.Sprintf("%d %s %q %v", r.Number, r.Caller, r.Message, r.Values()))
				assert.NotContains(t, r.Text, "4711")
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// Given a file in which no entry ends, then a record stays small, and no line is lost.
func TestAnEntryHasABound(t *testing.T) {
	const line = "a line without a header, of some length, in a file without an end of an entry\n"
	found, _ := read(t, "2026-11-28T12:47:26.1Z ERROR csi_node::node: It happened\n"+strings.Repeat(line, 2000), nil)
	require.Greater(t, len(found), 1)
	assert.Less(t, len(found[0].Text), 1<<17)
	lines := 0
	for _, r := range found {
		lines += strings.Count(r.Text, "\n") + 1
	}
	assert.Equal(t, 2001, lines)
}
