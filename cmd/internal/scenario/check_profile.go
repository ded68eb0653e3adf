package scenario

import (
	"errors"
	"fmt"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/internal/input/strict"
)

// readProfile reads the profile that a driver names.
func (c *checker) readProfile(d *Driver) {
	if d.Profile == "" {
		if d.Binary != "" {
			c.report("binary", "a binary without a profile", "the profile that says how it is started, or program instead")
		}
		return
	}
	read, err := profile.Load(d.Profile, c.dir)
	var problems strict.Problems
	var unknown *profile.UnknownError
	switch {
	case err == nil:
		d.profile = read
		c.checkSingle(read)
	case errors.As(err, &problems):
		c.problems = append(c.problems, problems...)
	case errors.As(err, &unknown):
		c.document.ReportUnknown(c.in("profile"), fmt.Sprintf("profile %q", d.Profile), d.Profile,
			"a driver profile: "+strings.Join(profile.Names(), ", ")+", or a YAML file", profile.Names())
	default:
		c.report("profile", fmt.Sprintf("profile %q, which cannot be read (%v)", d.Profile, err),
			"a YAML file with a driver profile, relative to this file")
	}
}

func (c *checker) checkSingle(p *profile.Profile) {
	if nodes := len(c.nodeNames()); p.Single && nodes != 1 {
		c.report("profile", fmt.Sprintf("profile %q with %d nodes", p.Name, nodes),
			"cluster: {nodes: 1}, since one process of this driver holds all of its state")
	}
}
