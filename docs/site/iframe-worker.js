// Search on pages that are opened from a folder: a browser starts no worker for an address that begins with file:, so
// the worker's script runs in an empty frame instead. Messages are copied and come later, as those of a worker do.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.title = "Search"
      document.documentElement.append(this.frame)
      const inside = this.frame.contentWindow
      inside.postMessage = data => this.later(() => this.onmessage?.({ data: structuredClone(data) }))
      this.ready = new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script")
        script.src = String(address)
        script.onload = () => resolve(inside)
        script.onerror = reject
        this.frame.contentDocument.head.append(script)
      })
      this.ready.catch(error => this.onerror?.(error))
    }
    later(action) {
      setTimeout(action, 0)
    }
    postMessage(data) {
      const copy = structuredClone(data)
      this.ready.then(inside => this.later(() => inside.onmessage({ data: copy })))
    }
    terminate() {
      this.frame.remove()
    }
  }
}
