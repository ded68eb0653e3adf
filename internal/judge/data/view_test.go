package data

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
)

// viewing is a machine on which running containers have a separate view of a volume.
type viewing struct {
	*machine.Memory
	view machine.View
}

func (*viewing) KeepView(string) error                 { return nil }
func (v *viewing) ViewOf(string) (machine.View, error) { return v.view, nil }
func (*viewing) CloseViews(string) error               { return nil }

// Given a pod that has written to its volume. When the volume is mounted again, then it is lost for
// running containers unless the new mount covers the dead one. Then a remark says whether all of
// them have the new mount, or only lose their open files.
func TestRunningContainersHaveTheMountOfTheirStart(t *testing.T) {
	for _, test := range []struct {
		name       string
		view       machine.View
		propagated bool
		want       verdict.Form
	}{
		{"the path shows it", machine.View{}, false, ""},
		{"the old daemon still answers", machine.View{Covered: true}, false, ""},
		{"another error", machine.View{Err: syscall.EIO}, false, ""},
		{"the dead mount was replaced", machine.View{Err: syscall.ENOTCONN}, false, daemonDied},
		{"a mount in its place does not propagate", machine.View{Err: syscall.ENOTCONN}, true, daemonDied},
		{"the dead mount was covered", machine.View{Err: syscall.ENOTCONN, Covered: true}, false, remounted},
		{"the mount over it propagates", machine.View{Err: syscall.ENOTCONN, Covered: true}, true, openFiles},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t)
			var got []verdict.Verdict
			n.OnViolation = func(_ Use, v verdict.Verdict) { got = append(got, v) }
			n.publish("a", "v", false)
			use := n.use("a", "v")
			on := &viewing{Memory: n.Memory}
			use.Machine, use.Propagated = on, test.propagated
			n.Check.Start(use)

			on.view = test.view
			n.Read(use)
			n.Read(use)
			if test.want == "" {
				assert.Empty(t, got)
				return
			}
			assert.Len(t, got, 1, "once for each pod and volume")
			assert.Equal(t, test.want, got[0].Form)
			assert.Equal(t, test.view.Covered, got[0].Remark)
			assert.Contains(t, Advice(got[0]), "run ")
		})
	}
}
