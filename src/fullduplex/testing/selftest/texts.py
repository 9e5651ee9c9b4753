"""What the self-test says: short signs of listening, sentences, and what its users say. All words are our own."""

from __future__ import annotations

#: What a listener says while the other one talks.
NODS = (
    "Mm-hmm.",
    "Right.",
    "Uh-huh.",
    "Yeah.",
    "I see.",
    "Okay.",
    "Of course.",
    "Really?",
    "Oh wow.",
    "Sure.",
    "Good point.",
    "That is true.",
    "Go on.",
    "No way.",
    "Fair enough.",
    "Exactly.",
)
#: What takes the floor. First sounds are of every manner: stops, fricatives, nasals, glides, vowels.
SENTENCES = (
    "Platform four is on the left, just behind the ticket hall.",
    "She said that the garden would need more water in July.",
    "Fifteen people have told us they are coming on Friday.",
    "However you look at it, the bridge is still too narrow.",
    "Most of the paint was gone before the winter even began.",
    "Never leave the window open when it starts to rain.",
    "The museum is open until six, so there is no hurry.",
    "Vanilla and cinnamon go very well with baked apples.",
    "We could meet at the station and walk over together.",
    "Every morning the baker brings us two loaves of bread.",
    "Until the road is repaired you have to drive around the lake.",
    "Cold water from the spring runs right through the village.",
    "Both of the lamps were broken when the parcel arrived.",
    "Do you remember where we put the spare key last summer?",
    "Good boots matter far more than a good map up there.",
    "Zebras and horses were standing together by the fence.",
    "Just put the letters on my desk before you go home.",
    "Chicken soup is what my father makes when anyone is ill.",
    "Listen to the engine first and then look at the brakes.",
    "Your appointment has been moved to a quarter past nine.",
    "Rivers this far north stay frozen until the end of April.",
    "Old houses like that one always have a cold kitchen floor.",
    "Ask the driver whether this bus stops near the market.",
    "Seven days without a cloud is rare in this part of the country.",
    "Through the trees you can see the roof of the old mill.",
    "People often forget to check the tyres before a long trip.",
    "Honestly, I would take the earlier train and have lunch there.",
    "Twelve of the tables are booked and the other two are outside.",
    "Maybe the neighbours can feed the cat while we are away.",
    "If the light turns red again, switch everything off and call me.",
    "Snow had covered the path by the time they turned back.",
    "Keep the receipt, because they will ask for it at the desk.",
)
#: What the users say. None of these has a long pause inside, and no system says any of them.
USERS = (
    "I would like to know how I get from here to the harbour.",
    "Tell me what the weather is going to be like on Sunday.",
    "We are looking for a small hotel near the old town.",
    "My sister wants to learn how to bake a proper cake.",
    "Somebody left a blue bicycle in front of our door.",
    "The printer in the office has stopped working again.",
    "Wait a moment I have another question about that.",
    "Sorry but that is not quite what I wanted to ask.",
)
