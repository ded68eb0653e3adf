package main

import (
	"github.com/csisim/csisim/cmd/internal/clitest"
)

// badScenarios are scenarios with a mistake or with a wait that cannot succeed.
var badScenarios = []badInput{
	{
		name: "malformed YAML", scenario: "steps:\n- wait: {pod: web\n",
		code: 2, says: []string{"bad.yaml:4:9: found malformed YAML: a map that is opened with { and not closed, want a } at its end"},
	},
	{
		name: "an unknown field", scenario: "drivers: [{name: a.example.com, mock: {atach: true}}]\n",
		code: 2, says: []string{`bad.yaml:3:40: drivers[0].mock.atach: found unknown field "atach"`, `did you mean "attach"?`},
	},
	{
		name: "a wrong type", scenario: "drivers: [{name: a.example.com, mock: {attach: often}}]\n",
		code: 2, says: []string{`bad.yaml:3:48: drivers[0].mock.attach: found string "often", want true or false`},
	},
	{
		name: "an unknown kind", scenario: "objects: [{apiVersion: v1, kind: Podd, metadata: {name: x}}]\n",
		code: 2, says: []string{`bad.yaml:3:34: objects[0].kind: found kind "Podd", want a built-in kind`, `did you mean "Pod"?`},
	},
	{
		name: "a mistake in a manifest", scenario: "objects: [{file: pod.yaml}]\n",
		files: map[string]string{"pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {nodename: x, containers: [{name: main, image: x}]}\n"},
		code:  2, says: []string{`pod.yaml:4:8: spec.nodename: found unknown field "nodename"`, `did you mean "nodeName"?`},
	},
	{
		name: "a node that does not exist", scenario: "steps: [{kill-kubelet: node-c}]\n",
		code: 2, says: []string{`bad.yaml:3:24: steps[0].kill-kubelet: found node "node-c", want a node of this scenario: node-a, node-b`},
	},
	{
		name: "a driver that does not exist", scenario: clitest.Mocked + "steps: [{kill-driver: {driver: b.example.com}}]\n",
		code: 2, says: []string{`bad.yaml:4:32: steps[0].kill-driver.driver: found driver "b.example.com", want a driver of this scenario: a.example.com`},
	},
	{
		name: "a claim that does not exist", scenario: clitest.Mocked + clitest.ClaimOf("a.example.com") + "- wait: {pvc: dta, phase: Bound}\n",
		code: 2, says: []string{`bad.yaml:13:15: steps[2].wait.pvc: found pvc "dta", want an object that a manifest of this scenario makes: data; did you mean "data"?`},
	},
	{
		name: "two drivers with one name", scenario: "drivers:\n- {name: a.example.com, mock: {}}\n- {name: a.example.com, mock: {}}\n",
		code: 2, says: []string{`bad.yaml:5:10: drivers[1].name: found driver "a.example.com" a second time, want each name once (it is in line 4)`},
	},
	{
		name: "a wait for an impossible condition", scenario: clitest.Mocked + clitest.ClaimOf("a.example.com") + "- wait: {pvc: data, phase: Lost}\n",
		code: 1, says: []string{
			"Timed out waiting 10 min for pvc data in phase Lost",
			"bad.yaml:13  step 3: wait pvc data, phase Lost",
			"pvc data: phase is Bound, not Lost", "components and their waits:\n", "all components are idle",
		},
	},
	{
		name: "a wait for a call that always fails",
		scenario: clitest.Mocked + clitest.ClaimOf("a.example.com") + `- fault: {call: NodeStageVolume, code: Internal}
` + clitest.PodStep,
		code: 1, says: []string{
			"Timed out waiting 10 min for pod web in phase Running", "pod default/web: waits for its volumes to be mounted: v",
			"fault NodeStageVolume is still in force for every NodeStageVolume",
		},
	},
}
