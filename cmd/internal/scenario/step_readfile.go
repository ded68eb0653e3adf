package scenario

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/sim"
)

func init() {
	register("read-file", "Reads a file of a volume and checks its content, owner and permissions.",
		`read-file: {pod: web, volume: data, file: report, gid: 2000, mode: "0660"}`, &readFileStep{})
}

// readFileStep checks the given properties of a file.
type readFileStep struct {
	volumeFileFields
	Content *string      `json:"content,omitempty" example:"hello" doc:"The complete content of the file."`
	UID     *uint32      `json:"uid,omitempty" example:"1000" doc:"The owner of the file."`
	GID     *uint32      `json:"gid,omitempty" example:"2000" doc:"The group that owns it."`
	Mode    *permissions `json:"mode,omitempty" example:"0660" doc:"Its permissions."`
}

func (s *readFileStep) do(r *runner) error {
	found, err := r.cluster.ReadVolumeFile(s.pod(), s.Volume, s.File)
	if err != nil {
		return fmt.Errorf("read-file: %w", err)
	}
	want, got := s.differences(found)
	if len(want) > 0 {
		return &Failure{
			Verdict:  verdict.Plain(fmt.Sprintf("file %s in volume %s of pod %s is not as expected", s.File, s.Volume, s.Pod)),
			Expected: strings.Join(want, ", "), Got: strings.Join(got, ", "),
		}
	}
	r.say(fmt.Sprintf("%s: uid %d, gid %d, mode %s, %d bytes", s.File, found.UID, found.GID, permissions(found.Mode), len(found.Content)))
	return nil
}

// differences returns the expected and found values of the properties that differ.
func (s *readFileStep) differences(found sim.VolumeFile) (want, got []string) {
	differ := func(expected, is string) {
		if expected != is {
			want, got = append(want, expected), append(got, is)
		}
	}
	if s.UID != nil {
		differ(fmt.Sprintf("uid %d", *s.UID), fmt.Sprintf("uid %d", found.UID))
	}
	if s.GID != nil {
		differ(fmt.Sprintf("gid %d", *s.GID), fmt.Sprintf("gid %d", found.GID))
	}
	if s.Mode != nil {
		differ("mode "+s.Mode.String(), "mode "+permissions(found.Mode).String())
	}
	if s.Content != nil {
		differ(fmt.Sprintf("content %.80q", *s.Content), fmt.Sprintf("content %.80q", found.Content))
	}
	return want, got
}
