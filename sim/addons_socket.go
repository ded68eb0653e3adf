package sim

import (
	"path"

	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/machine"
)

// addonsSocketName is that of a socket for CSI-Addons alone, unless the program has its own name
// for it.
const addonsSocketName = "csi-addons.sock"

// addonsSocketIn is where a plugin serves CSI-Addons in its directory: mostly at its only socket.
func (d *driver) addonsSocketIn(m machine.Machine, directory string) string {
	own := d.socketIn(m, directory)
	switch {
	case d.Socket != nil && d.Socket.Addons != "":
		return path.Join(path.Dir(own), addonsSocketName)
	case d.Program != nil && d.Program.AddonsSocket != "":
		return path.Join(path.Dir(own), path.Base(d.Program.AddonsSocket))
	case d.Program != nil && program.Asks("Addons", d.Program.Env, d.Program.Command, d.Program.ControllerCommand):
		return path.Join(path.Dir(own), addonsSocketName)
	}
	return own
}

// servesAt reports whether calls of a site are to the plugin.
func (p *plugin) servesAt(at wire.Site) bool {
	return p.machine == at.Machine && (p.socket == at.Socket || p.addons == at.Socket)
}
