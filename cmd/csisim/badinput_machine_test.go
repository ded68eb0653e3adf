package main

import (
	"strings"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// badMachines are machines that lack something necessary for a run.
var badMachines = []badInput{
	{
		name: "a socket path that is too long", scenario: clitest.BadDriver("", long), flags: "--isolation none --work-dir " + strings.Repeat("d", 60),
		code: 3, says: []string{"bytes long and the limit is 107: choose a shorter work directory"},
	},
	{
		name: "namespaces that are not permitted", scenario: clitest.HostdirPod, barred: true,
		code: 3, says: []string{
			"keep nodes apart: namespaces are not permitted: root has no CAP_SYS_ADMIN here, and sysctl user.max_user_namespaces is 0: ",
			"give the container that capability: docker run --privileged, privileged: true in a pod's securityContext, or let users have namespaces: sysctl -w user.max_user_namespaces=10000; drivers that mount nothing run with isolation none",
		},
	},
	{
		name: "namespaces that a seccomp filter forbids", scenario: clitest.HostdirPod, filtered: true,
		code: 3, says: []string{
			"keep nodes apart: namespaces are not permitted: root has no CAP_SYS_ADMIN here, and a seccomp filter, such as that of Docker and Kubernetes, forbids unshare(2) and mount(2): ",
			"give the container that capability: docker run --privileged, privileged: true in a pod's securityContext; drivers that mount nothing run with isolation none",
		},
	},
	{
		name: "loop devices that are not permitted", scenario: clitest.HostdirPod, unprivileged: true, namespaces: true,
		code: 1, says: []string{
			"Timed out waiting 10 min for pod web in phase Running", "open /dev/loop-control: permission denied",
			"    nodes     by mount namespaces of an ordinary user: no loop devices, no device nodes, no change of owners",
		},
	},
	{
		name: "loop devices that are not there", scenario: clitest.HostdirPod, mount: withoutLoops,
		code: 1, says: []string{
			"Timed out waiting 10 min for pod web in phase Running",
			"no loop device is left: open /dev/loop-control: no such file or directory: load the kernel module (modprobe loop) or, in a container, share the machine's /dev",
		},
	},
	{
		name: "loop devices that are used up", scenario: clitest.HostdirPod, mount: fewLoops + ownDev,
		code: 1, says: []string{
			"Timed out waiting 10 min for pod web in phase Running", "✗ ResourceExhausted: attach loop device to ",
			"no loop device is left: all 2 that have a node in /dev are in use, [", "detach some (losetup --list shows them) or make more nodes (mknod /dev/loop",
		},
	},
	{
		name: "loop devices that are used up, as the kernel does not know", scenario: clitest.HostdirPod, mount: fewLoops + ` && touch /mnt/loop-control && mount --bind /dev/loop-control /mnt/loop-control` + ownDev,
		code: 1, says: []string{"no loop device is left: all 2 that have a node in /dev are in use, ["},
	},
	{
		name: "a work directory that does not exist", scenario: clitest.BadDriver("", long), flags: "--work-dir nowhere",
		code: 3, says: []string{"no work directory can be made in nowhere: it does not exist; create it or choose another"},
	},
	{
		name: "a work directory that may not be written", scenario: clitest.BadDriver("", long), flags: "--work-dir locked", unprivileged: true,
		code: 3, says: []string{"no work directory can be made in locked: it is not writable for this user; choose another"},
	},
	{
		name: "a read-only work directory", scenario: clitest.BadDriver("", long), mount: "mount -t tmpfs -o ro none w",
		code: 3, says: []string{"no work directory can be made in w: it is read-only; choose another"},
	},
	{
		name: "a full work directory", scenario: clitest.BadDriver("", long), mount: "mount -t tmpfs -o size=4k none w && echo x > w/x",
		code: 3, says: []string{"no work directory can be made in w: its disk is full; free some space or choose another"},
	},
	{
		name: "a work directory that fills up at the start", scenario: clitest.BadDriver("", long), mount: "mount -t tmpfs -o nr_inodes=9 none w",
		code: 3, says: []string{"start driver bad.csi.example.com, controller: mkdir /", "no space left on device"},
	},
}

// withoutLoops is a shell command that gives the machine a /dev without loop devices.
const withoutLoops = devices + ownDev

const devices = `mount -t tmpfs none /mnt && for f in null zero random urandom tty; do touch /mnt/$f && mount --bind /dev/$f /mnt/$f; done`

// ownDev is a shell command that mounts /mnt as the /dev of the machine.
const ownDev = ` && mount --rbind /mnt /dev`

// fewLoops is a shell command that gives the machine a /dev with two loop devices, both in use.
const fewLoops = `truncate -s 1M w/image && a=$(losetup --find --show w/image) && b=$(losetup --find --show w/image) && trap "losetup --detach $a $b; rm w/image" EXIT && ` +
	devices + ` && for f in ${a##*/} ${b##*/}; do touch /mnt/$f && mount --bind /dev/$f /mnt/$f; done`
