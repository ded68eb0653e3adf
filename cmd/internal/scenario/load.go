package scenario

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// Load reads a scenario file. The error is either an error of reading the file, or strict.Problems
// with all mistakes in the file and in its manifests.
func Load(path string) (*Scenario, error) {
	data, err := strict.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	if kinds := kindsOf(data); len(kinds) > 0 && !ownVersion().Match(data) {
		return nil, strict.Problems{{
			File: path, Line: 1, Column: 1, Found: "a Kubernetes manifest (" + strings.Join(kinds, ", ") + ")",
			Want: fmt.Sprintf("a scenario; apply the manifest from a step of one: `- apply: {file: %s}`", filepath.Base(path)),
		}}
	}
	return Parse(path, data)
}

var ownVersion = lazyregexp.New(`(?m)^apiVersion:[ \t]*["']?csisim\.dev/`)

var topLevelKind = lazyregexp.New(`(?m)^kind:[ \t]*["']?(\w+)`)

// kindsOf returns the kinds of the documents in a YAML file, each once.
func kindsOf(data []byte) (kinds []string) {
	for _, found := range topLevelKind().FindAllSubmatch(data, -1) {
		if kind := string(found[1]); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// Parse is Load for text that has been read. Files that it names are relative to the directory of
// file.
func Parse(file string, data []byte) (*Scenario, error) {
	s := &Scenario{File: file}
	document, problems := strict.Open(file, data, s)
	if document == nil {
		return nil, problems
	}
	kinds := definedKinds(document, filepath.Dir(file))
	document.Words = kinds
	document.Root.Decode(s)
	s.positions, s.csiAddons = document.Positions, mentionsCSIAddons(document, filepath.Dir(file))
	if key := document.Root.Key("expect"); key != nil {
		// The checks of every run need this position, even without expectations.
		s.positions["expect"] = key.Position()
	}
	if s.Name == "" {
		base := filepath.Base(file)
		s.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	c := &checker{
		scenario: s, document: document, dir: filepath.Dir(file),
		kinds: kinds, made: newManifestObjects(), faults: map[string]bool{}, names: map[string]int{},
		ruled: ruled{places: map[place]bool{}, first: map[ruledKey]manifest.Object{}},
	}
	c.check()
	if all := append(document.Problems(), c.problems...).Sorted(); len(all) > 0 {
		return nil, all
	}
	return s, nil
}

func (c *checker) check() {
	c.takeFirstVersions()
	all := c.readManifests()
	c.checkDefinitions()
	c.checkVersions()
	c.at("clusters", c.checkClusters)
	c.checkLives()
	c.at("cluster", func() {
		c.checkMigration("migration", c.scenario.Cluster.Migration)
		c.checkLegacy()
		c.checkKind()
	})
	c.at("cluster.nodes", c.checkNodes)
	c.at("cluster.snapshot-controller", c.checkSnapshotController)
	c.at("drivers", c.checkDrivers)
	for _, object := range all {
		c.checkObject(object)
	}
	for i := range c.scenario.Steps {
		c.number = i
		c.checkStep(&c.scenario.Steps[i])
	}
	c.number = len(c.scenario.Steps)
	c.at("expect", func() { c.scenario.Expect.check(c) })
}

// readManifests reads the objects of the scenario and of its steps.
func (c *checker) readManifests() []manifest.Object {
	room := maxText
	objects, problems := c.scenario.Objects.read(c.dir, &room)
	c.scenario.objects, c.problems = objects, append(c.problems, problems...)
	all := c.add(-1, objects)
	all = append(all, c.readReleases(&room)...)
	for i, step := range c.scenario.Steps {
		if apply, ok := step.action.(*applyStep); ok {
			objects, problems := apply.Manifests.read(c.dir, &room)
			apply.objects, c.problems = objects, append(c.problems, problems...)
			all = append(all, c.add(i, objects)...)
			c.scenario.Steps[i].title = strings.TrimPrefix(step.In+": ", ": ") + "apply " + named(objects)
		}
	}
	return all
}

// readReleases reads the objects of the drivers' releases.
func (c *checker) readReleases(room *int) (all []manifest.Object) {
	for i := range c.scenario.Drivers {
		versions := c.scenario.Drivers[i].Versions
		for _, name := range slices.Sorted(maps.Keys(versions)) {
			v := versions[name]
			if name == c.scenario.Drivers[i].Version {
				continue // the objects of this release belong to the scenario
			}
			objects, problems := v.Objects.read(c.dir, room)
			v.objects, c.problems = objects, append(c.problems, problems...)
			versions[name] = v
			all = append(all, c.add(-1, objects)...)
		}
	}
	return all
}

func (c *checker) add(step int, objects []manifest.Object) []manifest.Object {
	for _, object := range objects {
		c.made.add(step, object)
	}
	return objects
}

func (c *checker) checkStep(s *Step) {
	if s.Name != "" {
		if line, taken := c.names[s.Name]; taken {
			c.document.Report(strict.Key(s.path, "name"), fmt.Sprintf("step name %q a second time", s.Name), fmt.Sprintf("each name once (it is in line %d)", line))
		}
	}
	c.checkIn(s)
	if s.action != nil {
		c.at(strict.Key(s.path, s.Kind), func() { s.action.check(c) })
	}
	if s.Name != "" {
		c.names[s.Name] = s.Line
	}
}
