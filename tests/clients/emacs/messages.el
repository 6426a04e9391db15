;; Messages wait while a run is at work: one is edited, one is removed, and one is given at once.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defvar picks nil "The beginnings of what the user chooses next.")

(defun pick (_ choices &rest _)
  "Return the one of CHOICES that the user wants."
  (let ((beginning (pop picks)))
    (or (car (all-completions beginning choices))
        (error "%s is not offered: %s" beginning (all-completions "" choices)))))

(play (lambda ()
        (open-agent)
        (axe-run "Go")
        (wait-for-log "│ Meanwhile" "▶ lint-1 (side run): Lint")
        (cl-letf (((symbol-function 'completing-read) #'pick)
                  ((symbol-function 'read-string) (lambda (&rest _) "Only c.py")))
          (setq picks '("lead: Go"))
          (axe-send "Only a.py")
          (wait-for-log "⟳ message: Only a.py")
          (setq picks '("lead: Go"))
          (axe-send "And b.py" "after")
          (wait-for-log "⟳ message for the end of the run: And b.py")
          (setq picks '("lead: Go" "And b.py" "remove"))
          (axe-queue)
          (wait-for-log "⟳ message removed")
          (setq picks '("lead: Go" "Only a.py" "edit"))
          (axe-queue)
          (wait-for-log "⟳ message changed: Only c.py")
          (setq picks '("lead: Go" "Only c.py" "give it now"))
          (axe-queue)
          (wait-for-log "! broken off by a message" "⟳ given: 1 message" "│ Looked at c."
                        "⟳ waits for lint-1")
          (setq picks '("lint-1"))
          (axe-send "Stop it" "now")
          (wait-for-log "│ Clean." "⟳ given: answer of lint-1" "✓ lead: Go" "│ All done."))))
