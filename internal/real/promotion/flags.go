package promotion

import (
	"github.com/csisim/csisim/internal/real/deploy"
)

// flagsOf returns the flags of a driver's sidecars that the scenario sets, by sidecar. The
// documentation of these options begins with the name of the real program's flag.
func flagsOf(i installed) map[string][]string {
	all := map[string][]string{}
	options := i.Driver.Sidecars
	if options.Provisioner.ExtraCreateMetadata == nil {
		options.Provisioner.ExtraCreateMetadata = new(true)
	}
	for _, program := range options.OfController() {
		if flags := deploy.Flags(program); len(flags) > 0 {
			all[program.Name()] = flags
		}
	}
	return all
}
