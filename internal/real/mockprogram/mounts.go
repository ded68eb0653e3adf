package mockprogram

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/real/proxy"
	"github.com/csisim/csisim/internal/world/machine"
)

// remoteMounter makes mounts on a node.
type remoteMounter struct{ address, token string }

var _ mock.GroupMounter = remoteMounter{}

// order is a request to a node.
type order struct {
	Do             string
	Source, Target string
	ReadOnly       bool
	Group          int
}

func (m remoteMounter) Mount(source, target string, readOnly bool) error {
	_, err := m.ask(order{Do: "mount", Source: source, Target: target, ReadOnly: readOnly})
	return err
}

func (m remoteMounter) MountDevice(source, target string) error {
	_, err := m.ask(order{Do: "device", Source: source, Target: target})
	return err
}

func (m remoteMounter) SetGroup(target string, gid int) error {
	_, err := m.ask(order{Do: "group", Target: target, Group: gid})
	return err
}

func (m remoteMounter) Unmount(target string) error {
	_, err := m.ask(order{Do: "unmount", Target: target})
	return err
}

func (m remoteMounter) IsMounted(target string) (bool, error) {
	answer, err := m.ask(order{Do: "look", Target: target})
	return answer == "mounted", err
}

// client gives an unreachable node a minute.
var client = &http.Client{Timeout: time.Minute}

func (m remoteMounter) ask(o order) (string, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequest(http.MethodPost, "http://"+m.address, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set(proxy.TokenHeader, m.token)
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	answer := strings.TrimSpace(string(text))
	switch {
	case err != nil:
		return "", err
	case response.StatusCode != http.StatusOK:
		return "", errors.New(answer)
	}
	return answer, nil
}

// mounts executes the backend's orders on this node.
type mounts struct {
	host    machine.Machine
	volumes string
	devices devices
}

func newMounts(volumes, token string) http.Handler {
	return proxy.Bearing(token, &mounts{host: machine.NewHost(""), volumes: volumes})
}

func (m *mounts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var o order
	err := json.NewDecoder(r.Body).Decode(&o)
	answer := "done"
	if err == nil {
		answer, err = m.obey(o)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	fmt.Fprintln(w, answer)
}

func (m *mounts) obey(o order) (string, error) {
	switch o.Do {
	case "mount":
		return "done", m.mount(o)
	case "device":
		return "done", m.device(o)
	case "group":
		return "done", m.host.Lchown(o.Target, -1, o.Group)
	case "unmount":
		return "done", m.unmount(o.Target)
	case "look":
		mounted, err := m.isMounted(o.Target)
		if mounted {
			return "mounted", err
		}
		return "not mounted", err
	}
	return "", fmt.Errorf("the mock driver has no %s on a real node", o.Do)
}

// device creates a file, and mounts a volume's block device there.
func (m *mounts) device(o order) error {
	device, err := m.devices.of(path.Join(m.volumes, o.Source+".img"))
	if err != nil {
		return err
	}
	if err := m.host.MkdirAll(path.Dir(o.Target), 0o755); err != nil {
		return err
	}
	if err := m.host.WriteFile(o.Target, nil, 0o660); err != nil {
		return err
	}
	return m.host.BindMount(device, o.Target, false)
}

func (m *mounts) mount(o order) error {
	if !path.IsAbs(o.Source) {
		o.Source = path.Join(m.volumes, o.Source)
		if err := m.host.MkdirAll(o.Source, 0o777); err != nil {
			return err
		}
	}
	if err := m.host.MkdirAll(o.Target, 0o755); err != nil {
		return err
	}
	return m.host.BindMount(o.Source, o.Target, o.ReadOnly)
}

// unmount keeps the staging directory, which belongs to the kubelet.
func (m *mounts) unmount(target string) error {
	mounted, err := m.isMounted(target)
	if err == nil && mounted {
		err = m.host.Unmount(target)
	}
	if err != nil || path.Base(target) == "globalmount" {
		return err
	}
	if err := m.host.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (m *mounts) isMounted(target string) (bool, error) {
	mounted, err := m.host.IsMountPoint(target)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return mounted, err
}
