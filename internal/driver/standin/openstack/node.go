package openstack

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/driver/standin/disk"
)

const (
	// nodeDir is the directory with the files for a driver on a node.
	nodeDir = "/run/csisim/openstack"
	// byID begins the names of volumes among the links.
	byID = "disk/by-id/virtio-"
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
	if err := furnishDev(); err != nil {
		return fmt.Errorf("give the node a /dev of its own: %w", err)
	}
	return nil
}

// ClientConfig returns the cloud.conf of a client.
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

// furnishDev gives the server a /dev with the config drive, and with room for its volumes.
func furnishDev() error {
	if err := disk.FurnishDev(func(name string) bool { return name == configDrive || strings.HasPrefix(name, "vd") }); err != nil {
		return err
	}
	if _, err := standin.Run("mknod", filepath.Join(disk.Dev, configDrive), "b", "11", "0"); err != nil {
		return err
	}
	for _, link := range []string{configDriveLabel, byID} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(disk.Dev, link)), 0o755); err != nil {
			return err
		}
	}
	return os.Symlink("../../"+configDrive, filepath.Join(disk.Dev, configDriveLabel))
}

// link returns the name that a virtio disk gets from its serial number, in 20 characters.
func (v *volume) link() string { return byID + v.id[:20] }

// show makes a volume's device on its server.
func (v *volume) show(s *server, a attachment) error {
	return v.disk.Show(s.node, filepath.Base(a.device), v.link())
}

// hide removes the device from a server.
func (v *volume) hide(s *server, a attachment) error {
	return v.disk.Hide(s.node, filepath.Base(a.device), v.link())
}
