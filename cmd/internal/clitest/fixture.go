package clitest

import "fmt"

// Header begins every scenario.
const Header = "apiVersion: csisim.dev/v1alpha1\nkind: Scenario\n"

// Mocked is a scenario with the reference driver in memory.
const Mocked = "drivers: [{name: a.example.com, mock: {}}]\n"

// Faulty returns a scenario with a claim and a mock that misbehaves according to options.
func Faulty(options string) string {
	return fmt.Sprintf("drivers: [{name: a.example.com, mock: {%s}}]\n", options) + ClaimOf("a.example.com")
}

// PodStep uses the claim of claimOf.
const PodStep = `- apply:
    apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec:
      containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /data}]}]
      volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
- wait: {pod: web, phase: Running}
`

// BadDriver returns a scenario with the driver program that misbehaves in the given way.
func BadDriver(way, startTimeout string) string {
	return fmt.Sprintf(`cluster: {nodes: 1}
drivers:
- name: bad.csi.example.com
  program: {command: [baddriver, "{{.Socket}}"], env: {BAD_DRIVER: %q, STATE: "{{.StateDir}}", MARK: "{{.NodeStateDir}}"}, startTimeout: %s}
`, way, startTimeout) + ClaimOf("bad.csi.example.com")
}

// ClaimOf returns the step that provisions a volume of a driver.
func ClaimOf(driver string) string {
	return fmt.Sprintf(`objects:
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: %s}
steps:
- apply:
    apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 16Mi}}}
- wait: {pvc: data, phase: Bound}
`, driver)
}

// HostdirPod uses hostdir, which makes real mounts.
const HostdirPod = HostdirDriver + HostdirObjects + HostdirSteps

const HostdirDriver = `cluster: {nodes: 1}
drivers:
- name: hostdir.csi.csisim.dev
  program: {command: [hostdir, "--endpoint={{.Endpoint}}", "--driver-name={{.Driver}}", "--mode={{.Mode}}", "--node-id={{.NodeID}}", "--state-dir={{.StateDir}}", "--node-state-dir={{.NodeStateDir}}"]}
`

const HostdirObjects = `objects:
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: hostdir}, provisioner: hostdir.csi.csisim.dev}
`

const HostdirSteps = `steps:
- apply: |
    apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: files}
    spec: {accessModes: [ReadWriteOnce], storageClassName: hostdir, resources: {requests: {storage: 16Mi}}}
    ---
    apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: block}
    spec: {accessModes: [ReadWriteOnce], volumeMode: Block, storageClassName: hostdir, resources: {requests: {storage: 16Mi}}}
    ---
    apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec:
      containers:
      - {name: c, image: i, volumeMounts: [{name: files, mountPath: /data}], volumeDevices: [{name: block, devicePath: /dev/xvda}]}
      volumes:
      - {name: files, persistentVolumeClaim: {claimName: files}}
      - {name: block, persistentVolumeClaim: {claimName: block}}
- wait: {pod: web, phase: Running}
`
