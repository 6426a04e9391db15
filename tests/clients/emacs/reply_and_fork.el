;; A completed run is replied to, and forked at its first turn with another model.  -*- lexical-binding: t; -*-

(load (expand-file-name "support" (file-name-directory load-file-name)))

(defvar typed nil "What the user types next.")

(play (lambda ()
        (open-agent)
        (axe-run "When?")
        (wait-for-log "✓ reader: When?" "On Friday.")
        (cl-letf (((symbol-function 'completing-read)
                   (lambda (_ choices &rest _) (car (last (all-completions "" choices))))) ; the oldest
                  ((symbol-function 'read-string) (lambda (&rest _) (pop typed)))
                  ((symbol-function 'read-number) (lambda (&rest _) (pop typed))))
          (setq typed '("At what time?"))
          (axe-reply)
          (wait-for-log "✓ reader: At what time?" "At noon.")
          (setq typed '(1 "openai/m-other"))
          (axe-fork)
          (wait-for-log "On some Friday."))))
