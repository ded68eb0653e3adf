package profile

import (
	"path/filepath"

	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/driver/standin/nfs"
	"github.com/csisim/csisim/internal/driver/standin/openstack"
	"github.com/csisim/csisim/internal/driver/standin/web"
	"github.com/csisim/csisim/internal/input/strict"
)

// StandIns are the services of a run that replace real ones.
type StandIns struct {
	NFS       *nfs.Options       `json:"nfs,omitempty" doc:"An NFS server that exports directories of the run."`
	OpenStack *openstack.Options `json:"openstack,omitempty" doc:"An OpenStack cloud with loop devices of the run as volumes; {} for a plain one."`
	HTTP      *web.Options       `json:"http,omitempty" doc:"A storage system with an HTTP API. Its collections and routes are declared or recorded. Programs reach it at {{.ServiceURL}}."`
}

// Check reports the mistakes in the stand-ins of a document's field.
func (s StandIns) Check(d *strict.Document, field string) {
	if s.NFS != nil {
		if err := s.NFS.Check(); err != nil {
			d.Report(field+".nfs", err.Error(), "a server's name and the absolute paths that it exports")
		}
	}
	if s.OpenStack != nil {
		if err := s.OpenStack.Check(); err != nil {
			d.Report(field+".openstack", err.Error(), "multiattach types that are among types")
		}
	}
	if s.HTTP != nil {
		if err := s.HTTP.Check(); err != nil {
			d.Report(field+".http", err.Error(), "collections or routes with paths such as /volumes, or a recording")
		}
	}
}

// Make creates the stand-ins of one run. Their files are relative to dir.
func (s StandIns) Make(dir string) []standin.StandIn {
	var all []standin.StandIn
	if s.NFS != nil {
		all = append(all, nfs.New(*s.NFS))
	}
	if s.OpenStack != nil {
		all = append(all, openstack.New(*s.OpenStack))
	}
	if s.HTTP != nil {
		o := *s.HTTP
		if o.Recording != "" && !filepath.IsAbs(o.Recording) {
			o.Recording = filepath.Join(dir, o.Recording)
		}
		all = append(all, web.New(o))
	}
	return all
}

// Operations lists the operations of the stand-ins that can be made to fail.
func (s StandIns) Operations() []string {
	var all []string
	for _, one := range s.Make("") {
		all = append(all, one.Operations()...)
	}
	return all
}
