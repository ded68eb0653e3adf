package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/google/shlex"
	"github.com/spf13/pflag"

	"github.com/csisim/csisim/cmd/internal/check"
)

// upgradeFlags name the release of a driver that the checked one replaces.
type upgradeFlags struct {
	from, fromProfile, fromBinary string
	fromDeploy                    []string
}

func (f *upgradeFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&f.from, "upgrade-from", "", "check the upgrade from the release that `COMMAND` starts, and the rollback to it; quoted as in a shell; a second -- begins its controller's command")
	flags.StringVar(&f.fromProfile, "upgrade-from-profile", "", "check the upgrade from the release that the profile of this `NAME` describes")
	flags.StringVar(&f.fromBinary, "upgrade-from-binary", "", "`PATH` of the program of that release (with --profile alone: of the same profile)")
	flags.StringArrayVar(&f.fromDeploy, "upgrade-from-deploy", nil, "`PATH` of the manifests of that release, if --deploy gives those of the checked release; may be repeated")
}

// given reports whether the command line requests the check of an upgrade.
func (f upgradeFlags) given() bool {
	return f.from != "" || f.fromProfile != "" || f.fromBinary != "" || len(f.fromDeploy) > 0
}

// old returns the release that the checked one replaces. All other flags apply to both.
func (f *checkFlags) old() (check.Subject, error) {
	own := f.subjectFlags
	own.save = ""
	var args []string
	u := f.upgrade
	if len(u.fromDeploy) > 0 {
		own.deploy = u.fromDeploy
	}
	switch {
	case f.endpoint != "":
		return check.Subject{}, usage("--upgrade-from and --endpoint: csisim has to start both releases")
	case len(u.fromDeploy) > 0 && len(f.deploy) == 0:
		return check.Subject{}, usage("--upgrade-from-deploy without --deploy: give the manifests of both releases")
	case f.deep != (depth{}):
		return check.Subject{}, usage("--upgrade-from and --deep: csisim explore --faults upgrade searches upgrades")
	case u.from != "" && (u.fromProfile != "" || u.fromBinary != ""):
		return check.Subject{}, usage("--upgrade-from and --upgrade-from-profile or --upgrade-from-binary: one of them")
	case u.from != "":
		own.profile, own.binary = "", ""
		var err error
		if args, err = shlex.Split(u.from); err != nil || len(args) == 0 {
			return check.Subject{}, usage("--upgrade-from %q: want a command with its arguments, quoted as in a shell", u.from)
		}
	case u.fromProfile != "":
		own.profile, own.binary = u.fromProfile, u.fromBinary
	case u.fromBinary == "" && f.profile == "":
		return check.Subject{}, usage("--upgrade-from-deploy without --upgrade-from, --upgrade-from-profile or --upgrade-from-binary: manifests name an image, and csisim starts a program")
	case f.profile == "":
		return check.Subject{}, usage("--upgrade-from-binary without --profile or --upgrade-from-profile: --upgrade-from takes a command")
	default:
		own.binary = cmp.Or(u.fromBinary, own.binary)
	}
	old, _, err := own.subject(args, 0)
	if err != nil {
		return old, usage("the old release: %w", err)
	}
	return old, nil
}

// askBoth requests the capabilities of both releases.
func (c *checking) askBoth(ctx context.Context, old check.Subject, facts *check.Facts) (*check.Upgrade, error) {
	c.progress.queryingDriver()
	before, err := check.Ask(ctx, old, c.options(old))
	c.progress.erase()
	switch {
	case err != nil:
		return nil, notAsked(ctx, fmt.Errorf("the old release: %w", err))
	case before.Name != facts.Name:
		return nil, usage("--upgrade-from: the old release is the driver %q, the new one %q: volumes of one are not served by the other; want two releases of one driver", before.Name, facts.Name)
	}
	u := &check.Upgrade{Old: before, New: facts}
	if u.Same(sameProgram) {
		c.progress.say("both releases are the same program with the same arguments: the check shows the effects of a restart")
	}
	return u, nil
}

// sameProgram reports whether two paths name one program or equal files.
func sameProgram(a, b string) bool {
	if a == b {
		return true
	}
	contents := make([][]byte, 2)
	for i, name := range []string{a, b} {
		path, err := exec.LookPath(name)
		if err == nil {
			contents[i], err = os.ReadFile(path)
		}
		if err != nil {
			return false
		}
	}
	return slices.Equal(contents[0], contents[1])
}
