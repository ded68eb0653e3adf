// Package nfs replaces an NFS server: its exports are directories of the run. The programs of a
// node mount them with mount(8), like exports of a server.
package nfs

import (
	_ "embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/internal/driver/standin"
)

// Options describe the server.
type Options struct {
	Server  string   `json:"server" want:"required" example:"nfs.example.com" doc:"The server's name."`
	Exports []string `json:"exports" want:"required" example:"[/export]" doc:"The directories that it exports."`
}

// Server is the server of one run.
type Server struct {
	options  Options
	dir      string
	failures int
}

// New makes a server.
func New(o Options) *Server { return &Server{options: o} }

//go:embed mount.nfs
var helper string

// Check returns the first mistake in the options.
func (o Options) Check() error {
	if o.Server == "" || strings.ContainsAny(o.Server, " :/'\\@\n") {
		return fmt.Errorf("server %q is not a host's name", o.Server)
	}
	if len(o.Exports) == 0 {
		return fmt.Errorf("no exports")
	}
	for _, export := range o.Exports {
		if !path.IsAbs(export) || path.Clean(export) != export {
			return fmt.Errorf("export %q is not a clean absolute path", export)
		}
	}
	return nil
}

// Start makes the exports.
func (s *Server) Start(dir string) error {
	s.dir = dir
	made := []string{"failures", "helpers"}
	for _, export := range s.options.Exports {
		made = append(made, "exports"+export)
	}
	for _, d := range made {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	text := strings.NewReplacer("@SERVER@", dir, "@HOSTS@", s.options.Server).Replace(helper)
	for _, name := range []string{"mount.nfs", "mount.nfs4"} {
		if err := standin.WriteProgram(filepath.Join(dir, "helpers", name), text); err != nil {
			return err
		}
	}
	return nil
}

// Furnish makes mount(8) on the node find the helper.
func (s *Server) Furnish(n standin.Node) error {
	return n.MountHelpers(filepath.Join(s.dir, "helpers"))
}

// Operations returns the operations that can be made to fail.
func (*Server) Operations() []string { return []string{"mount"} }

// Fail makes mounts fail. In a message, %s is replaced by the source, HOST:DIR.
func (s *Server) Fail(f standin.Failure) error {
	if f.Message == "" {
		f.Message = "Connection timed out for %s"
	}
	if f.Code == 0 {
		f.Code = 32
	}
	text := fmt.Sprintf("%d\n%s\n", f.Code, strings.ReplaceAll(f.Message, "\n", " "))
	if f.Times == 0 {
		return os.WriteFile(s.failure("always"), []byte(text), 0o644)
	}
	for range f.Times {
		s.failures++
		if err := os.WriteFile(s.failure(fmt.Sprintf("%06d", s.failures)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Recover ends all injected failures.
func (s *Server) Recover() error {
	if err := os.RemoveAll(filepath.Join(s.dir, "failures")); err != nil {
		return err
	}
	return os.Mkdir(filepath.Join(s.dir, "failures"), 0o755)
}

func (s *Server) failure(name string) string { return filepath.Join(s.dir, "failures", name) }

// Stop does nothing: the exports are deleted with the run's directory.
func (s *Server) Stop() error { return nil }
