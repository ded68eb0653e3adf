package scenario

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/sim"
)

func init() {
	register("write-file", "Writes a file into a volume, as a container of the pod would.",
		`write-file: {pod: web, volume: data, file: report, content: hello, uid: 1000, mode: "0640"}`, &writeFileStep{})
}

// writeFileStep writes a file. Its owner and content can be read later.
type writeFileStep struct {
	volumeFileFields
	Content string       `json:"content,omitempty" example:"hello" doc:"The content to write."`
	UID     *uint32      `json:"uid,omitempty" example:"1000" doc:"The user that writes it; the default is the user of the pod's containers."`
	GID     *uint32      `json:"gid,omitempty" example:"1000" doc:"The group of that user; the default is the group of the pod's containers. In a directory with setgid, it is the group of the directory."`
	Refused bool         `json:"refused,omitempty" doc:"The write must fail, because the volume is not writable now; default false."`
	Mode    *permissions `json:"mode,omitempty" example:"0640" doc:"Its permissions; default 0644."`
}

func (s *writeFileStep) do(r *runner) error {
	file := sim.VolumeFile{Content: s.Content, Mode: 0o644}
	file.UID, file.GID = r.cluster.RunsAs(s.pod())
	if s.UID != nil {
		file.UID = int(*s.UID)
	}
	if s.GID != nil {
		file.GID = int(*s.GID)
	}
	if s.Mode != nil {
		file.Mode = fs.FileMode(*s.Mode)
	}
	err := r.cluster.WriteVolumeFile(s.pod(), s.Volume, s.File, file)
	if e := (*sim.EnvironmentError)(nil); errors.As(err, &e) {
		return err // it is not known whether the volume can be written
	}
	switch {
	case s.Refused && err == nil:
		return &Failure{
			Verdict:  verdict.Plain(fmt.Sprintf("pod %s writes to volume %s, which it must not", s.Pod, s.Volume)),
			Expected: "an error of the write", Got: "file " + s.File + " is written",
		}
	case !s.Refused && err != nil:
		return fmt.Errorf("write-file: %w", err)
	}
	return nil
}
