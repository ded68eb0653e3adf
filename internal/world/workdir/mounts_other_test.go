//go:build !linux

package workdir_test

import "testing"

func tmpfs(t *testing.T, _ string) string {
	t.Skip("mounts are tested on Linux")
	return ""
}

func bind(t *testing.T, _, _ string) { t.Skip("mounts are tested on Linux") }
