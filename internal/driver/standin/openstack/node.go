package openstack

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/internal/driver/standin"
)

const (
	// nodeDir has the files for a driver on a node.
	nodeDir = "/run/csisim/openstack"
	// ownDev is the directory in which a node's own /dev is built and changed.
	ownDev = nodeDir + "/dev"
	byID   = "disk/by-id"
	// configDrive is the device with a server's metadata, with its usual label.
	configDrive      = "sr0"
	configDriveLabel = "disk/by-label/config-2"
)

// configDriveHelper mounts a config drive, which is a directory here.
const configDriveHelper = `#!/bin/sh
# The stand-in for the iso9660 file system of a config drive: mount.iso9660 DEVICE POINT ...
case $1 in
/dev/` + configDrive + ` | /dev/` + configDriveLabel + `) exec mount --bind -o ro ` + nodeDir + `/config-drive "$2" ;;
esac
echo "mount: $2: no medium found on $1." >&2
exit 32
`

// Furnish makes a machine a server of the cloud. It gets its own /dev with its volumes, the config
// drive with its metadata, and the configuration of a client.
func (c *Cloud) Furnish(n standin.Node) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &server{id: uuidOf("server/" + n.Name), name: n.Name, zone: orElse(n.Zone, defaultZone), node: n}
	if err := n.MountHelpers(filepath.Join(c.dir, "helpers")); err != nil {
		return err
	}
	if err := n.Furnish(func() error { return c.furnish(s) }); err != nil {
		return err
	}
	c.servers[s.id] = s
	return nil
}

// furnish puts the files of a server in their places.
func (c *Cloud) furnish(s *server) error {
	metadata, err := json.Marshal(map[string]any{
		"uuid": s.id, "name": s.name, "hostname": s.name, "availability_zone": s.zone, "project_id": uuidOf("project"),
	})
	if err != nil {
		return err
	}
	for file, text := range map[string]string{
		"cloud.conf": c.ClientConfig(),
		"config-drive/openstack/latest/meta_data.json": string(metadata),
		// Some drivers mount the config drive on TMPDIR and then remove that directory, if it is
		// empty.
		"tmp/keep": "",
	} {
		file = filepath.Join(nodeDir, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := makeDev(); err != nil {
		return fmt.Errorf("give the node a /dev of its own: %w", err)
	}
	// Drivers that miss a device make the kernel and udev rescan. This must not affect the host.
	_, err = standin.Run("mount", "-o", "remount,bind,ro", "/sys")
	return err
}

// ClientConfig is the cloud.conf of a client.
func (c *Cloud) ClientConfig() string {
	return fmt.Sprintf(`[Global]
auth-url = %s
username = %s
password = %s
tenant-name = %s
domain-name = Default
region = %s
[Metadata]
search-order = configDrive
`, c.url("identity/v3"), user, c.password, project, region)
}

// makeDev mounts a /dev with the host's devices. Others can be added to it.
func makeDev() error {
	if err := os.MkdirAll(ownDev, 0o755); err != nil {
		return err
	}
	if _, err := standin.Run("mount", "-t", "tmpfs", "-o", "mode=755", "dev", ownDev); err != nil {
		return err
	}
	if _, err := standin.Run("mknod", filepath.Join(ownDev, configDrive), "b", "11", "0"); err != nil {
		return fmt.Errorf("%w: run as root of this machine: a user namespace permits no devices", err)
	}
	if err := copyDevices(); err != nil {
		return err
	}
	for _, dir := range []string{byID, filepath.Dir(configDriveLabel)} {
		if err := os.MkdirAll(filepath.Join(ownDev, dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.Symlink("../../"+configDrive, filepath.Join(ownDev, configDriveLabel)); err != nil {
		return err
	}
	_, err := standin.Run("mount", "--rbind", ownDev, "/dev")
	return err
}

// copyDevices copies the entries of the host's /dev to the node's /dev. It skips names that the
// cloud uses, and the many terminals.
func copyDevices() error {
	entries, err := os.ReadDir("/dev")
	if err != nil {
		return err
	}
	devices := []string{"-a", "-t", ownDev}
	for _, e := range entries {
		from, to := filepath.Join("/dev", e.Name()), filepath.Join(ownDev, e.Name())
		switch {
		case e.Name() == "disk", e.Name() == configDrive, strings.HasPrefix(e.Name(), "vd"):
		case strings.HasPrefix(e.Name(), "tty") && e.Name() != "tty":
		case e.IsDir():
			if err := os.Mkdir(to, 0o755); err != nil {
				return err
			}
			if _, err := standin.Run("mount", "--rbind", from, to); err != nil {
				return err
			}
		case e.Type()&(fs.ModeDevice|fs.ModeSymlink) != 0:
			devices = append(devices, from)
		}
	}
	_, err = standin.Run("cp", devices...)
	return err
}

// show makes a volume's device on its server.
func (v *volume) show(s *server, a attachment) error {
	if v.loop == "" {
		loop, err := standin.Run("losetup", "--find", "--show", v.image)
		if err != nil {
			return err
		}
		v.loop = loop
	}
	number, err := os.ReadFile("/sys/block/" + filepath.Base(v.loop) + "/dev")
	if err != nil {
		return err
	}
	major, minor, _ := strings.Cut(strings.TrimSpace(string(number)), ":")
	return s.node.Within(func() error {
		if _, err := standin.Run("mknod", ownDev+"/"+filepath.Base(a.device), "b", major, minor); err != nil {
			return err
		}
		return os.Symlink("../../"+filepath.Base(a.device), v.link())
	})
}

// hide removes the device from a server. With the last device, it removes the loop device.
func (v *volume) hide(s *server, a attachment) error {
	err := s.node.Within(func() error {
		return errors.Join(os.Remove(v.link()), os.Remove(ownDev+"/"+filepath.Base(a.device)))
	})
	if len(v.attachments) > 0 {
		return err
	}
	return errors.Join(err, v.freeLoop())
}

// link is the name that a virtio disk gets from its serial number, in 20 characters.
func (v *volume) link() string { return ownDev + "/" + byID + "/virtio-" + v.id[:20] }

func (v *volume) freeLoop() error {
	if v.loop == "" {
		return nil
	}
	_, err := standin.Run("losetup", "--detach", v.loop)
	v.loop = ""
	return err
}

// grow enlarges the file, and the device that shows it, to the size of the volume.
func (v *volume) grow() error {
	if err := os.Truncate(v.image, int64(v.size)*gibibyte); err != nil || v.loop == "" {
		return err
	}
	_, err := standin.Run("losetup", "--set-capacity", v.loop)
	return err
}
