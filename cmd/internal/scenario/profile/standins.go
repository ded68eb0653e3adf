package profile

import (
	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/driver/standin/nfs"
	"github.com/csisim/csisim/internal/driver/standin/openstack"
	"github.com/csisim/csisim/internal/input/strict"
)

// StandIns are the services of a run that take the place of real ones.
type StandIns struct {
	NFS       *nfs.Options       `json:"nfs,omitempty" doc:"An NFS server, whose exports are directories of the run."`
	OpenStack *openstack.Options `json:"openstack,omitempty" doc:"An OpenStack cloud, whose volumes are loop devices of the run; {} for a plain one."`
}

func (s StandIns) check(d *strict.Document) {
	if s.NFS != nil {
		if err := s.NFS.Check(); err != nil {
			d.Report("standIns.nfs", err.Error(), "a server's name and the absolute paths that it exports")
		}
	}
	if s.OpenStack != nil {
		if err := s.OpenStack.Check(); err != nil {
			d.Report("standIns.openstack", err.Error(), "multiattach types that are among types")
		}
	}
}

// make makes the stand-ins of one run.
func (s StandIns) make() []standin.StandIn {
	var all []standin.StandIn
	if s.NFS != nil {
		all = append(all, nfs.New(*s.NFS))
	}
	if s.OpenStack != nil {
		all = append(all, openstack.New(*s.OpenStack))
	}
	return all
}

// Operations are what can be made to fail.
func (s StandIns) Operations() []string {
	var all []string
	for _, one := range s.make() {
		all = append(all, one.Operations()...)
	}
	return all
}
