package main

import "fmt"

// header begins every scenario.
const header = "apiVersion: csisim.dev/v1alpha1\nkind: Scenario\n"

// mocked is a scenario with the reference driver in memory.
const mocked = "drivers: [{name: a.example.com, mock: {}}]\n"

// faulty returns a scenario with a mock that misbehaves by options, and a claim.
func faulty(options string) string {
	return fmt.Sprintf("drivers: [{name: a.example.com, mock: {%s}}]\n", options) + claimOf("a.example.com")
}

// podStep uses the claim of claimOf.
const podStep = `- apply:
    apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec:
      containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /data}]}]
      volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
- wait: {pod: web, phase: Running}
`

// badDriver returns a scenario with the driver program that misbehaves in the given way.
func badDriver(way, startTimeout string) string {
	return fmt.Sprintf(`cluster: {nodes: 1}
drivers:
- name: bad.csi.example.com
  program: {command: [baddriver, "{{.Socket}}"], env: {BAD_DRIVER: %q, STATE: "{{.StateDir}}", MARK: "{{.NodeStateDir}}"}, startTimeout: %s}
`, way, startTimeout) + claimOf("bad.csi.example.com")
}

// claimOf returns the step that provisions a volume of a driver.
func claimOf(driver string) string {
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

// hostdirPod uses hostdir, which makes real mounts.
const hostdirPod = hostdirDriver + hostdirObjects + hostdirSteps

const hostdirDriver = `cluster: {nodes: 1}
drivers:
- name: hostdir.csi.csisim.dev
  program: {command: [hostdir, "--endpoint={{.Endpoint}}", "--driver-name={{.Driver}}", "--mode={{.Mode}}", "--node-id={{.NodeID}}", "--state-dir={{.StateDir}}", "--node-state-dir={{.NodeStateDir}}"]}
`

const hostdirObjects = `objects:
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: hostdir}, provisioner: hostdir.csi.csisim.dev}
`

const hostdirSteps = `steps:
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
