package main

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
)

const totalOf24GiB = "MemTotal:       25165824 kB\nMemFree:        12892960 kB\n"

func TestTheMemoryLimitIsThatOfTheMachineOrItsControlGroups(t *testing.T) {
	for name, of := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing is known":            {map[string]string{}, 0},
		"a machine without groups":    {map[string]string{"proc/meminfo": totalOf24GiB}, 24 << 30},
		"version 2, in the own group": {groups2("/user/run", "/", "user/run/memory.max", "1073741824"), 1 << 30},
		"version 2, in a group above": {groups2("/user/run", "/", "user/memory.max", "2147483648"), 2 << 30},
		"version 2, without a limit":  {groups2("/user/run", "/", "user/run/memory.max", "max"), 24 << 30},
		"version 2, in a container":   {groups2("/", "/", "memory.max", "536870912"), 512 << 20},
		"version 2, a container with groups mounted as seen from outside": {
			groups2("/../pod7/run", "/kubepods/pod7/run", "memory.max", "536870912"), 512 << 20},
		"version 1, in the own group": {groups1("/docker/abc", "/", "docker/abc/memory.limit_in_bytes", "1073741824"), 1 << 30},
		"version 1, in a container":   {groups1("/docker/abc", "/docker/abc", "memory.limit_in_bytes", "1073741824"), 1 << 30},
		"version 1, without a limit":  {groups1("/", "/", "memory.limit_in_bytes", "9223372036854771712"), 24 << 30},
	} {
		root := fstest.MapFS{}
		for file, text := range of.files {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		assert.Equal(t, of.want, memoryIn(root), name)
	}
}

func groups2(group, top, file, limit string) map[string]string {
	return map[string]string{
		"proc/meminfo":     totalOf24GiB,
		"proc/self/cgroup": "0::" + group + "\n",
		"proc/self/mountinfo": "23 1 8:1 / / rw - ext4 /dev/sda1 rw\n" +
			"31 23 0:28 " + top + " /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
		"sys/fs/cgroup/" + file: limit + "\n",
	}
}

func groups1(group, top, file, limit string) map[string]string {
	return map[string]string{
		"proc/meminfo":     totalOf24GiB,
		"proc/self/cgroup": "5:devices:/\n4:cpuset,memory:" + group + "\n0::/\n",
		"proc/self/mountinfo": "33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n" +
			"35 31 0:32 " + top + " /sys/fs/cgroup/memory rw - cgroup cgroup rw,cpuset,memory\n",
		"sys/fs/cgroup/memory/" + file: limit + "\n",
	}
}
