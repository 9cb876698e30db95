"""Which methods a comparison recommends. The files in the order in which a card is made:

pseudo_values   a number for each text, also where a metric is made of two means
leads           how far each method is ahead of random scores, tested, with Holm's correction
trust_rules     what follows for a method, with all thresholds
trust_card      the card's points, in words
"""
