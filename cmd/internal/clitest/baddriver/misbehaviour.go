package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// leaveChildren starts a process that shares neither group nor session nor environment with its
// parent, and that ignores signals. Only the environment variable MARK in its command line
// identifies it.
func leaveChildren() {
	script := "trap '' HUP INT TERM; cd /; while :; do sleep 1000; done; : " + os.Getenv("MARK")
	child := exec.Command("sh", "-c", `setsid sh -c "$0" </dev/null >/dev/null 2>&1 &`, script)
	child.Env = []string{"PATH=" + os.Getenv("PATH")}
	if err := child.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// leaked is never freed.
var leaked [][]byte

// leak allocates memory and writes to it, so that the machine must provide real pages.
func leak() {
	much := make([]byte, 64<<20)
	for i := 0; i < len(much); i += os.Getpagesize() {
		much[i] = 1
	}
	leaked = append(leaked, much)
}

// fill writes to a file in the directory STATE until there is no space left.
func fill() error {
	file, err := os.Create(os.Getenv("STATE") + "/much")
	for err == nil {
		_, err = file.Write(make([]byte, 64<<10))
	}
	return err
}

// attach attaches a file in the directory ELSEWHERE, which is the host's, to a loop device.
func attach() error {
	image := os.Getenv("ELSEWHERE") + "/image"
	err := os.WriteFile(image, make([]byte, 1<<20), 0o600)
	if err == nil {
		err = exec.Command("losetup", "--find", image).Run()
	}
	return err
}

// open opens the device in OPENS, like a driver with FUSE mounts. With QUIET, only its output
// contains the error.
func open(device string) error {
	if device == "" {
		return nil
	}
	file, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil && os.Getenv("QUIET") != "" {
		fmt.Fprintln(os.Stderr, err)
		return errors.New("nothing is mounted after 10 s")
	}
	if err == nil {
		err = file.Close()
	}
	return err
}

// NodePublishVolume mounts a file system in memory.
func (d *driver) NodePublishVolume(_ context.Context, r *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	if d.way == "unmounts mounts of others" {
		unmountAll()
	}
	target := r.GetTargetPath()
	err := os.Mkdir(target, 0o755)
	if err == nil {
		err = open(os.Getenv("OPENS"))
	}
	if err == nil {
		err = syscall.Mount("bad", target, "tmpfs", 0, "size=64k")
	}
	if err == nil && d.goes("leaves a loop device") {
		err = attach()
	}
	if err == nil && d.goes("keeps its mount busy") {
		_, err = os.Create(target + "/open") // and never closed
	}
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.NodePublishVolumeResponse{}, nil
}

func (d *driver) NodeUnpublishVolume(_ context.Context, r *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	err := syscall.Unmount(r.GetTargetPath(), 0)
	if err == nil {
		err = os.Remove(r.GetTargetPath())
	}
	if err != nil {
		return nil, status.Errorf(codes.Internal, "unmount %s: %v", r.GetTargetPath(), err)
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

// unmountAll unmounts all mounts.
func unmountAll() {
	table, _ := os.ReadFile("/proc/self/mountinfo")
	for _, line := range slices.Backward(strings.Split(strings.TrimSpace(string(table)), "\n")) {
		_ = syscall.Unmount(strings.Fields(line)[4], syscall.MNT_DETACH)
	}
}
